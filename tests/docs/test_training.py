"""What the page about training says of presets is what they are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from models.ranker_params import LARGE_FROM, PRESETS

sys.path.insert(0, str(Path(__file__).parent))

from pages import ROOT

pytestmark = pytest.mark.flash


def test_the_page_knows_the_presets_and_the_border_between_them():
    text = " ".join((ROOT / "docs" / "training.md").read_text(encoding="utf-8").split())
    small, large = PRESETS["small"], PRESETS["large"]
    assert f"`small` ({small.num_leaves} leaves," in text
    assert f"`large` ({large.num_leaves} leaves, {large.trees} trees" in text
    assert f"small below {LARGE_FROM:,} requests" in text

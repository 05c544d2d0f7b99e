"""docs/features.md is what the registry says."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.features import as_markdown, features_of

PAGE = Path(__file__).parents[2] / "docs" / "features.md"


@pytest.mark.flash
def test_the_page_ends_with_the_table_of_the_registry():
    assert PAGE.read_text(encoding="utf-8").endswith("\n\n" + as_markdown(features_of(None)))

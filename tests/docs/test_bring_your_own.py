"""docs/bring-your-own.md as a user does it, on the lake of the demo; and its table of policies."""

from __future__ import annotations

import re
import shlex
import sys
from inspect import signature
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pages import ROOT, blocks
from walk import in_order, run_blocks

from cluster.lake import Lake
from jobs.commands.machine import demo
from jobs.ingest import ingest
from jobs.synth import synth
from pipeline.policies.registry import known_policies

PAGE = ROOT / "docs" / "bring-your-own.md"


@pytest.mark.cluster
def test_the_example_prints_what_the_page_shows(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    generated = {name: signature(demo).parameters[name].default for name in ("histories", "sessions")}
    synth(home / "histories.json", **generated, seed=0)
    ingest(Lake.init(str(home / "lake")), str(home / "histories.json"), "longmemeval", {})
    (program,) = blocks(PAGE, "python")
    (home / "rank.py").write_text(program)
    (commands,), (shown,) = blocks(PAGE, "sh"), blocks(PAGE, "text")
    _, said = run_blocks([f"{shlex.quote(sys.executable)} rank.py", commands], tmp_path)
    assert in_order(shown, said), said


@pytest.mark.flash
def test_the_table_has_every_policy() -> None:
    told = set(re.findall(r"^\| `(\w+)`", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert told == set(known_policies(["bm25"], with_cross_encoder=True, with_teacher=True))

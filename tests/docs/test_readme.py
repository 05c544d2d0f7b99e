"""The README's picture of the path of the data is jobs/graph.py's, and it begins as the walk of a new user does."""

from __future__ import annotations

import re
import sys
from itertools import product
from pathlib import Path

import pytest

from jobs.config import load_profile
from jobs.graph import stages

sys.path.insert(0, str(Path(__file__).parent))

from pages import FIRST_SLATE, README, blocks

ARROW = re.compile(r" (?:--|-- (\w+) --)> ")
JOBS = {"ingest", "train", "evaluate"}
READ_BY_MANY = {"turns", "requests"}
"""What the picture draws no arrow from, where a stage reads something nearer: the text below it says so."""


def drawn() -> set[tuple[str, str]]:
    """The arrows of the picture that are no job's, from table to stage."""
    (picture,) = blocks(README, "mermaid")
    arrows: set[tuple[str, str]] = set()
    for line in picture.splitlines()[1:]:
        start, job, end = ARROW.split(line.strip())
        assert job is None or job in JOBS
        if job is None:
            arrows |= set(product(start.split(" & "), end.split(" & ")))
    return arrows


def test_the_picture_is_the_path_that_a_run_takes() -> None:
    path = {
        stage.name: {read.table for read in stage.inputs.values()}
        for stage in stages(load_profile("default"), "o200k_base")
    }
    expected = {
        (name, stage) for stage, inputs in path.items() for name in (inputs - READ_BY_MANY or inputs)
    }  # fmt: skip
    assert drawn() == expected | {("ranker", "slates")}


@pytest.mark.flash
def test_the_first_commands_are_those_of_the_walk() -> None:
    of_the_walk = blocks(FIRST_SLATE, "sh")[1]
    assert " --budgets 60" in of_the_walk
    assert of_the_walk.replace(" --budgets 60", "") == blocks(README, "sh")[0]


@pytest.mark.flash
def test_the_slate_shown_is_that_of_the_walk() -> None:
    shown = re.findall(r"^    ([╭│╰].*)$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert "\n".join(shown) in blocks(FIRST_SLATE, "text")[0]

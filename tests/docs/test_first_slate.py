"""docs/first-slate.md as a new user does it: its commands one after the other, in a shell and an empty folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pages import FIRST_SLATE, blocks
from walk import in_order, run_blocks


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each `sh` block of the page wrote to standard output, the blocks run in order by a shell."""
    return run_blocks(blocks(FIRST_SLATE, "sh"), tmp_path_factory.mktemp("walk"))


@pytest.mark.cluster
def test_each_example_of_output_is_what_a_command_before_it_prints(said) -> None:
    page = FIRST_SLATE.read_text(encoding="utf-8")
    commands = blocks(FIRST_SLATE, "sh")
    examples = blocks(FIRST_SLATE, "text")
    assert len(examples) > 2
    for example in examples:
        before = [at for at, block in enumerate(commands) if page.index(block) < page.index(example)]
        assert in_order(example, said[before[-1]]), f"{example}\n{said[before[-1]]}"


@pytest.mark.flash
def test_an_example_that_is_not_printed_is_noticed() -> None:
    assert in_order("a\n...\nc", "a\nb\nc")
    assert not in_order("c\na", "a\nb\nc")

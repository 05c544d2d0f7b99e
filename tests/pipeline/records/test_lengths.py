"""Length in words whatever the script, and cutting to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.lengths import ELLIPSIS, clipped, length, one_line, shares, shortened

pytestmark = pytest.mark.flash

TEXT = st.text(st.sampled_from("ab .,\t日本ก/_\n"), max_size=120)


def test_a_long_word_and_a_script_without_spaces_count_as_several() -> None:
    assert length("three short words") == 3
    assert length("src/pipeline/records/a_rather_long_name.py") == 3
    assert length("昨日、東京に行きました") == 6
    assert length("") == 0


def test_a_text_is_cut_behind_a_word_and_marked() -> None:
    assert clipped("one two three, four", 3) == "one two three…"
    assert clipped("one two", 2) == "one two"
    assert clipped("one two", 0) == ""


def test_a_command_is_cut_in_its_middle() -> None:
    assert shortened("python run.py --many --options --here out.txt", 4) == "python run.py --many… out.txt"
    assert shortened("ls", 4) == "ls"


def test_what_one_does_not_need_is_left_to_the_others() -> None:
    assert shares([1, 50, 50], 21) == [1, 10, 10]
    assert shares([2, 3], 80) == [2, 3]
    assert shares([], 5) == []


@given(TEXT, st.integers(0, 30))
def test_no_cut_is_longer_than_asked(text: str, words: int) -> None:
    line = one_line(text)
    assert length(line) >= len(line.split())
    for cut in (clipped(line, words), shortened(line, words)):
        assert length(cut) <= words
        assert line.startswith(cut.split(ELLIPSIS)[0])


@given(st.lists(st.integers(0, 40), max_size=12), st.integers(0, 200))
def test_shares_are_within_needs_and_use_up_what_there_is(needs: list[int], total: int) -> None:
    given_each = shares(needs, total)
    assert all(0 <= share <= need for share, need in zip(given_each, needs, strict=True))
    assert sum(given_each) == min(sum(needs), total)

"""Choosing: within the words, from every stretch, nothing twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.choosing import choose
from pipeline.records.record import UnitTurn
from pipeline.records.telling import tellings

pytestmark = pytest.mark.flash

NOUNS = ["violin", "garden", "Rome", "Porto", "kiln", "42", "Luna", "nice", "harbour", "src/a.py"]
SENTENCES = st.lists(st.lists(st.sampled_from(NOUNS), min_size=2, max_size=6).map(" ".join), max_size=40)


@given(SENTENCES, st.integers(0, 60))
def test_what_is_chosen_costs_no_more_than_the_words_and_is_in_order(lines: list[str], words: int) -> None:
    found = tellings(tuple(UnitTurn(index, "user", "Ana", line) for index, line in enumerate(lines)))
    chosen = choose(found, lambda place: found[place].words, words)
    assert sum(found[place].words for place in chosen) <= words
    assert chosen == sorted(set(chosen))


def test_the_same_is_told_once() -> None:
    turn = UnitTurn(0, "user", "Ana", "I adopted Luna in Porto. " * 20)
    found = tellings((turn,))
    assert len(choose(found, lambda place: 6, 80)) == 1

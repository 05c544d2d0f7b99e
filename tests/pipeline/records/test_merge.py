"""A merged text is fair to all its records, in their order, and within its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.merge import merged
from pipeline.records.record import MERGED_WORDS

pytestmark = pytest.mark.flash

TEXTS = st.lists(st.text(st.sampled_from("abC .;:→1日"), max_size=200), min_size=1, max_size=64)


def test_short_records_stand_whole() -> None:
    assert merged(["Ana: went to Rome.", "Ben: has a dog"]) == "Ana: went to Rome. Ben: has a dog"


def test_of_long_ones_the_best_clauses_are_kept_with_who_said_them() -> None:
    filler = "; ".join(["it was very nice to see you again and all that"] * 12)
    told = merged([f"Ana: {filler}; adopted a cat named Luna. Ben: sold the boat in Bergen"] * 2, 30)
    assert told.count("Ana: adopted a cat named Luna; Ben: sold the boat in Bergen") == 2


@pytest.mark.parametrize("count", [2, 4, 16, 64])
def test_every_record_shows_something(count: int) -> None:
    texts = [
        f"Ana: went to Town{number} and it was very nice; we had a good time and it was fun" for number in range(count)
    ]
    told = merged(texts)
    assert all(f"Town{number}" in told for number in range(count))
    assert len(told.split()) <= MERGED_WORDS


@given(TEXTS, st.integers(1, 130))
def test_any_texts_give_at_most_so_many_words(texts: list[str], words: int) -> None:
    told = merged(texts, words)
    assert len(told.split()) <= words
    assert bool(told) or not any(text.strip(" .;") for text in texts)
    assert told == merged(texts, words)

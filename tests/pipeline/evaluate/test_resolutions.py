"""Tokens of slates by what they show."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.resolutions import RESOLUTIONS, Tokens, by_resolution, mean_tokens
from pipeline.schemas import SLATES

pytestmark = pytest.mark.flash
ITEMS = st.lists(st.tuples(st.sampled_from(RESOLUTIONS), st.integers(0, 30)), max_size=5)


def slates(*shown: tuple[int, list[tuple[str, int]]], policy: str = "p") -> pa.Table:
    place = {"session_index": 0, "turn_index": 0, "unit_index": 0, "start": 0, "end": 0, "rank": 0}
    rows = [
        {
            "history_id": "h", "request_id": f"q{number}", "policy": policy, "budget": 9, "n_tokens": n_tokens,
            "text": "",
            "items": [{**place, "resolution": resolution, "n_tokens": tokens} for resolution, tokens in items],
        }
        for number, (n_tokens, items) in enumerate(shown)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, SLATES)


def test_the_mean_of_two_slates_counts_what_a_slate_lacks_as_nothing() -> None:
    made = slates((20, [("record", 4), ("excerpt", 5), ("excerpt", 6), ("raw", 3)]), (10, [("record", 8)]))
    assert mean_tokens([by_resolution(made)]) == (Tokens("p", 9, 2, record=6.0, excerpt=5.5, raw=1.5, other=2.0),)


def test_an_empty_slate_counts_and_parts_add_up_to_what_they_are_together() -> None:
    one, other = slates((20, [("record", 4)])), slates((0, []), policy="r")
    assert [row.n for row in mean_tokens([by_resolution(one), by_resolution(other)])] == [1, 1]
    twice = mean_tokens([by_resolution(one), by_resolution(slates((0, [])))])
    assert twice == (Tokens("p", 9, 2, record=2.0, excerpt=0.0, raw=0.0, other=8.0),)


def test_where_all_that_is_shown_is_raw_there_is_nothing_to_tell() -> None:
    assert mean_tokens([by_resolution(slates((9, [("raw", 8)])))]) == ()
    assert mean_tokens([by_resolution(slates())]) == ()


@given(st.lists(st.tuples(st.integers(0, 99), ITEMS), min_size=1, max_size=6))
def test_the_four_add_up_to_the_tokens_of_each_slate(shown: list[tuple[int, list[tuple[str, int]]]]) -> None:
    found = by_resolution(slates(*shown))
    total = found.select(pl.sum_horizontal(*RESOLUTIONS, "other")).to_series().to_list()
    assert total == [n_tokens for n_tokens, _ in shown]
    for name in RESOLUTIONS:
        assert found[name].to_list() == [sum(n for of, n in items if of == name) for _, items in shown]

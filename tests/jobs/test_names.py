"""Names near one that there is not."""

from __future__ import annotations

import difflib

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.names import NEAR, near_names

NAMES = st.text("abcd-", max_size=8)


@pytest.mark.flash
@given(st.lists(NAMES, max_size=30), NAMES, st.sampled_from([0.0, 0.6]))
def test_of_few_names_the_likest_are_found(names, unknown, likeness) -> None:
    expected = difflib.get_close_matches(unknown, sorted(set(names)), n=NEAR, cutoff=likeness)
    assert near_names(unknown, pl.Series(names, dtype=pl.String), likeness) == expected


@pytest.mark.flash
def test_of_many_names_those_that_stand_near_in_order_or_hold_it_are_found() -> None:
    many = [f"user-{number:05d}" for number in range(20_000)]
    assert near_names("user-00420x", pl.Series(many))[0] == "user-00420"
    assert "user-00077-old" in near_names("77-old", pl.Series([*many, "user-00077-old"]))
    assert near_names("zebra", pl.Series(many)) == []

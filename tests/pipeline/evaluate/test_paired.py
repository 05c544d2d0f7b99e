"""Paired differences: the same requests on both sides, one budget or two."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.paired import paired_differences

pytestmark = pytest.mark.flash

STRATA = {
    "all": lambda _: True,
    "kappa = 1": lambda kappa: kappa == 1,
    "kappa >= 2": lambda kappa: kappa >= 2,
    "kappa >= 3": lambda kappa: kappa >= 3,
}

OUTCOMES = st.lists(
    st.tuples(st.sampled_from("ghi"), st.integers(0, 9), st.integers(1, 3), st.booleans(), st.booleans()),
    max_size=30,
    unique_by=lambda row: row[:2],
)


def side(rows, column: int, budget: int = 900) -> pl.DataFrame:
    return pl.DataFrame(
        [(row[0], str(row[1]), budget, row[2], row[column]) for row in rows],
        schema={
            "history_id": pl.String, "request_id": pl.String, "budget": pl.Int32, "kappa": pl.UInt32,
            "slate_complete": pl.Boolean,
        },
        orient="row",
    )  # fmt: skip


@given(OUTCOMES)
def test_each_row_is_the_mean_over_its_requests_and_zero_lies_in_the_interval_of_a_side_with_itself(rows):
    ours, theirs = side(rows, 3), side(rows, 4)
    found = paired_differences(ours, theirs.with_columns(of_budget="budget"), draws=200, seed=0)
    kept = {name: [one for one in rows if belongs(one[2])] for name, belongs in STRATA.items()}
    assert {row.stratum for row in found} == {name for name, ones in kept.items() if ones}
    for row in found:
        ones = kept[row.stratum]
        assert (row.n, row.n_histories) == (len(ones), len({one[0] for one in ones}))
        assert row.ours == pytest.approx(sum(one[3] for one in ones) / len(ones))
        assert row.theirs == pytest.approx(sum(one[4] for one in ones) / len(ones))
        assert row.over_requests.value == pytest.approx(row.ours - row.theirs)
        assert row.over_requests.low <= row.over_requests.high
    same = paired_differences(ours, ours.with_columns(of_budget="budget"), draws=200, seed=0)
    assert all((row.over_requests.low, row.over_histories.high) == (0, 0) for row in same)


def test_one_budget_is_set_against_another_and_requests_of_one_side_alone_do_not_count():
    rows = [("g", 1, 1, True, False), ("g", 2, 1, True, True)]
    ours = side([*rows, ("h", 1, 2, True, True)], 3, 1350)
    theirs = side(rows, 4, 2700).with_columns(of_budget=pl.lit(1350, pl.Int32))
    whole, single = paired_differences(ours, theirs, draws=100, seed=0)
    assert (whole.budget, whole.against_budget, whole.n, whole.ours, whole.theirs) == (1350, 2700, 2, 1.0, 0.5)
    assert (single.stratum, single.n) == ("kappa = 1", 2)

"""Agreement of labels: by hand, against pairs counted one by one, and within its bounds."""

from __future__ import annotations

from itertools import combinations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.answers.agreement import agreement, cohen_kappa

pytestmark = pytest.mark.flash

TABLES = st.lists(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=4), max_size=6)


def labels(table: list[list[bool | None]]) -> pl.DataFrame:
    rows = [(str(item), rater, label) for item, given_ in enumerate(table) for rater, label in enumerate(given_)]
    return pl.DataFrame(rows, {"item": pl.String, "rater": pl.Int32, "label": pl.Boolean}, orient="row")


@given(TABLES)
def test_values_are_as_counted_pair_by_pair_and_within_their_bounds(table):
    found = agreement(labels(table))
    items = [kept for row in table if len(kept := [label for label in row if label is not None]) > 1]
    assert found.n == len(items)
    if not items:
        assert found.pairwise is found.unanimous is found.kappa is None
        return
    pairs = [[first == second for first, second in combinations(row, 2)] for row in items]
    assert found.pairwise == pytest.approx(sum(sum(each) / len(each) for each in pairs) / len(pairs))
    assert found.unanimous == pytest.approx(sum(len(set(row)) == 1 for row in items) / len(items))
    assert 0 <= found.unanimous <= found.pairwise + 1e-12 <= 1 + 2e-12
    assert (found.kappa is None) == (len({label for row in items for label in row}) == 1)
    assert found.kappa is None or found.kappa <= 1 + 1e-12
    assert found.kappa is None or (abs(found.kappa - 1) < 1e-9) == (found.unanimous == 1)


def test_kappa_of_fleiss_by_hand():
    # P = (1 + 1/3 + 1) / 3 = 7/9; labels 5 of 9 right: Pe = 25/81 + 16/81 = 41/81.
    found = agreement(labels([[True, True, True], [True, True, False], [False, False, False]]))
    assert found.kappa == pytest.approx((7 / 9 - 41 / 81) / (1 - 41 / 81))
    assert found.unanimous == pytest.approx(2 / 3)


def test_the_standard_deviation_is_of_the_accuracies_of_repeats():
    found = agreement(labels([[True, False], [True, False], [True, True], [False, True]]))
    assert found.accuracy_sd == pytest.approx(0.25 / 2**0.5)
    assert agreement(labels([[True], [False]])).accuracy_sd is None


def test_kappa_of_cohen_by_hand():
    ours = [True] * 20 + [True] * 5 + [False] * 10 + [False] * 15
    theirs = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    assert cohen_kappa(pl.Series(ours), pl.Series(theirs)) == pytest.approx(0.4)


@given(st.lists(st.tuples(st.sampled_from([True, False, None]), st.sampled_from([True, False, None])), max_size=8))
def test_kappa_of_cohen_is_symmetric_and_bounded(pairs):
    ours, theirs = (pl.Series([pair[side] for pair in pairs], dtype=pl.Boolean) for side in (0, 1))
    kappa = cohen_kappa(ours, theirs)
    assert kappa == (pytest.approx(cohen_kappa(theirs, ours)) if kappa is not None else None)
    assert kappa is None or -1 - 1e-9 <= kappa <= 1 + 1e-9
    both = [pair for pair in pairs if None not in pair]
    assert (kappa is None) == (len({label for pair in both for label in pair}) < 2)

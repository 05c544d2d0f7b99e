"""Folds by history: none is split, and they are as even as whole histories allow."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.train.folds import assign

pytestmark = pytest.mark.flash

REQUESTS = st.lists(st.sampled_from([f"h{number}" for number in range(12)]), min_size=1, max_size=60)


@given(REQUESTS, st.integers(1, 8))
def test_every_history_lies_in_one_fold_and_no_fold_is_empty(requests, folds):
    found = assign(requests, folds)
    assert set(found) == set(requests)
    assert set(found.values()) == set(range(min(folds, len(set(requests)))))


@given(REQUESTS, st.integers(1, 8), st.randoms())
def test_folds_do_not_depend_on_the_order_of_the_requests(requests, folds, dice: random.Random):
    shuffled = requests.copy()
    dice.shuffle(shuffled)
    assert assign(shuffled, folds) == assign(requests, folds)


@given(REQUESTS, st.integers(1, 8))
def test_folds_differ_by_no_more_requests_than_the_largest_history_has(requests, folds):
    loads = Counter(assign(requests, folds)[history_id] for history_id in requests)
    assert max(loads.values()) - min(loads.values()) <= max(Counter(requests).values())


def test_three_histories_are_left_out_one_at_a_time():
    assert sorted(assign(["a"] * 150 + ["b"] * 140 + ["c"] * 70, 5).values()) == [0, 1, 2]


def test_histories_of_one_request_each_are_dealt_evenly():
    assert sorted(Counter(assign([f"h{number}" for number in range(23)], 5).values()).values()) == [4, 4, 5, 5, 5]

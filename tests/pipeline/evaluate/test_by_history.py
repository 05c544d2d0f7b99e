"""Shares by policy with intervals over histories, and paired differences."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.bootstrap import clustered_mean, clustered_ratio
from pipeline.evaluate.by_history import Shares, shares

pytestmark = pytest.mark.flash


def outcomes(flags: dict[str, list[bool]], kappa: int = 1, per_history: int = 2) -> pl.DataFrame:
    """One row a request and policy; `flags` say which slates are complete, all pools are."""
    return pl.DataFrame(
        [
            {
                "history_id": f"h{number // per_history}", "request_id": f"r{number}", "policy": policy, "budget": 900,
                "kappa": kappa, "pool_complete": True, "slate_complete": complete,
            }
            for policy, of_policy in flags.items()
            for number, complete in enumerate(of_policy)
        ]
    )  # fmt: skip


def of(rows: list[Shares], policy: str, stratum: str = "all") -> Shares:
    return next(row for row in rows if (row.policy, row.stratum) == (policy, stratum))


def test_a_difference_is_paired_request_by_request():
    rows = shares(outcomes({"a": [True, False, True, True], "b": [False, True, True, True]}), "a", 200, 0)
    ours = of(rows, "b")
    assert (ours.n, ours.n_histories) == (4, 2)
    assert ours.slate_completeness.value == of(rows, "a").slate_completeness.value == 0.75
    assert (ours.difference.value, ours.difference.low, ours.difference.high) == (0, 0, 0)
    assert of(rows, "a").difference.value is None


def test_a_policy_that_is_the_same_differs_by_nothing_for_certain():
    flags = [True, False, True, True, False, True]
    difference = of(shares(outcomes({"a": flags, "b": flags}), "a", 200, 0), "b").difference
    assert (difference.low, difference.value, difference.high) == (0, 0, 0)


def test_a_stratum_without_requests_has_no_estimate():
    row = of(shares(outcomes({"a": [True], "b": [True]}), "a", 100, 0), "b", "kappa >= 2")
    assert (row.n, row.r_pool.value, row.slate_completeness.value, row.difference.value) == (0, None, None, None)


@given(st.permutations(range(8)))
def test_neither_the_order_of_the_rows_nor_other_policies_change_a_number(order):
    flags = {"a": [True, False] * 4, "b": [True] * 5 + [False] * 3}
    plain = outcomes(flags)
    shuffled = pl.concat([part[order] for part in plain.partition_by("policy", maintain_order=True)])
    more = pl.concat([shuffled, outcomes({"c": [False] * 8})])
    assert of(shares(more, "a", 50, 3), "b") == of(shares(plain, "a", 50, 3), "b")


def test_requests_of_one_history_are_drawn_together():
    rng = np.random.default_rng(0)
    history = np.repeat(np.arange(20), 25)
    alike = np.repeat(rng.integers(0, 2, 20), 25).astype(np.float64)
    together = clustered_mean(alike, history, 2_000, np.random.default_rng(1))
    alone = clustered_mean(alike, np.arange(500), 2_000, np.random.default_rng(1))
    assert together.value == alone.value == alike.mean()
    width = together.high - together.low
    assert width > 3 * (alone.high - alone.low)
    generator = np.random.default_rng(2)
    by_history = alike.reshape(20, 25).mean(axis=1)
    slow = [generator.choice(by_history, 20).mean() for _ in range(2_000)]
    assert (together.low, together.high) == pytest.approx(np.percentile(slow, [2.5, 97.5]), abs=width / 8)


def test_a_ratio_is_resampled_as_a_ratio_and_histories_of_other_sizes_count_by_their_rows():
    parts, wholes = np.array([1.0, 0.0, 1.0, 1.0]), np.array([1.0, 1.0, 1.0, 0.0])
    found = clustered_ratio(parts, wholes, np.array([0, 0, 0, 1]), 500, np.random.default_rng(0))
    assert found.value == 1.0
    sizes = clustered_mean(np.array([1.0, 0.0, 0.0, 0.0]), np.array([0, 1, 1, 1]), 500, np.random.default_rng(0))
    assert sizes.value == 0.25
    assert (sizes.low, sizes.high) == (0, 1)


def test_nothing_has_no_estimate_and_one_cluster_no_spread():
    empty = np.empty(0)
    assert clustered_mean(empty, empty.astype(np.int64), 10, np.random.default_rng(0)).value is None
    one = clustered_mean(np.array([0.0, 1.0]), np.array([5, 5]), 10, np.random.default_rng(0))
    assert (one.low, one.value, one.high) == (0.5, 0.5, 0.5)


def test_text_of_an_estimate_is_short_and_says_where_there_is_none():
    from pipeline.evaluate.bootstrap import Estimate

    assert Estimate().text(signed=True, interval=True) == "-"
    assert Estimate(0.5, 0.25, 0.75).text() == "0.500"
    assert Estimate(0.0105, -0.02, 0.04).text(signed=True, interval=True) == "+0.011 [-0.020, +0.040]"

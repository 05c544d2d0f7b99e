from __future__ import annotations

import numpy as np
import pytest

from pipeline.evaluate.bootstrap import mean_estimate, share_estimates

pytestmark = pytest.mark.flash


@pytest.mark.parametrize("distinct", [5, 150], ids=["by counts", "by request"])
def test_the_interval_of_a_mean_is_that_of_a_slow_resample_either_way(distinct):
    values = np.random.default_rng(1).integers(0, distinct, 300).astype(np.int32)
    estimate = mean_estimate(values, 4000, np.random.default_rng(2))
    generator = np.random.default_rng(3)
    slow = [generator.choice(values, len(values)).mean() for _ in range(4000)]
    spread = float(np.std(slow))
    assert estimate.value == pytest.approx(values.mean())
    assert (estimate.low, estimate.high) == pytest.approx(np.percentile(slow, [2.5, 97.5]), abs=spread / 4)


def test_one_seed_gives_one_interval():
    values = np.arange(50, dtype=np.int32)
    first, second = (mean_estimate(values, 200, np.random.default_rng(7)) for _ in range(2))
    assert first == second


def test_draws_beyond_one_block_are_all_made():
    values = np.arange(40_000, dtype=np.int32)
    estimate = mean_estimate(values, 60, np.random.default_rng(0))
    assert estimate.low < values.mean() < estimate.high


def test_a_slate_may_be_complete_though_its_pool_is_not():
    in_pool = np.array([True, True, False, False])
    in_slate = np.array([True, False, True, False])
    pool, rank, complete = share_estimates(in_pool, in_slate, 500, np.random.default_rng(0))
    assert (pool.value, rank.value, complete.value) == (0.5, 0.5, 0.5)
    _, none, complete = share_estimates(~in_slate, in_slate, 500, np.random.default_rng(0))
    assert (none.value, complete.value) == (0.0, 0.5)
    assert complete.low < 0.5 < complete.high

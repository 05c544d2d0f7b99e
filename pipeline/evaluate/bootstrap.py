"""Percentile bootstrap over requests (Efron 1979): what the numbers would be had other requests been drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_INTERVAL = (2.5, 97.5)


@dataclass(frozen=True)
class Estimate:
    """A value and its 95% interval; all null where there is nothing to estimate from."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


def share_estimates(
    in_pool: npt.NDArray[np.bool_], in_slate: npt.NDArray[np.bool_], draws: int, generator: np.random.Generator
) -> tuple[Estimate, Estimate, Estimate]:
    """r_pool, r_rank and slate completeness of n requests, from two flags of shape (n,).

    A request is one of three kinds (complete in the slate, in the pool only, in neither), so a resample of requests is
    a multinomial draw of the counts of the kinds: exact, and its cost does not grow with n.
    """
    n = len(in_pool)
    if n == 0:
        return Estimate(), Estimate(), Estimate()
    both = int(np.sum(in_pool & in_slate))
    pool_only = int(np.sum(in_pool & ~in_slate))
    counts = np.array([both, pool_only, n - both - pool_only])
    drawn = generator.multinomial(n, counts / n, size=draws)
    pooled = drawn[:, 0] + drawn[:, 1]
    ranked = drawn[pooled > 0, 0] / pooled[pooled > 0]
    return (
        _estimate((both + pool_only) / n, pooled / n),
        _estimate(both / (both + pool_only), ranked) if both + pool_only else Estimate(),
        _estimate(both / n, drawn[:, 0] / n),
    )


def mean_estimate(values: npt.NDArray[np.int32], draws: int, generator: np.random.Generator) -> Estimate:
    """The mean of values of shape (n,); resampled by the counts of distinct values."""
    if len(values) == 0:
        return Estimate()
    distinct, counts = np.unique(values, return_counts=True)
    # A block of draws at a time: with many distinct values the whole matrix would not fit.
    block = max(1, 4_000_000 // len(distinct))
    means = [
        generator.multinomial(len(values), counts / len(values), size=min(block, draws - start))
        @ distinct
        / len(values)
        for start in range(0, draws, block)
    ]
    return _estimate(float(np.mean(values)), np.concatenate(means))


def _estimate(value: float, resampled: npt.NDArray[np.float64]) -> Estimate:
    low, high = np.percentile(resampled, _INTERVAL)
    return Estimate(float(value), float(low), float(high))

"""Percentile bootstrap (Efron 1979): what the numbers would be had other requests, or other histories, been drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_INTERVAL = (2.5, 97.5)
# A binomial draw costs about eight times an index draw (NumPy 2, measured): both ways are the same bootstrap.
_INDEX_PER_COUNT = 8


@dataclass(frozen=True)
class Estimate:
    """A value and its 95% interval; all null where there is nothing to estimate from."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    def text(self, signed: bool = False, interval: bool = False) -> str:
        """The value, and on request its interval, with three digits; `-` where there is nothing to estimate from."""
        if self.value is None:
            return "-"
        sign = "+" if signed else ""
        return f"{self.value:{sign}.3f}" + (f" [{self.low:{sign}.3f}, {self.high:{sign}.3f}]" if interval else "")


def share_estimates(
    in_pool: npt.NDArray[np.bool_], in_slate: npt.NDArray[np.bool_], draws: int, generator: np.random.Generator
) -> tuple[Estimate, Estimate, Estimate]:
    """r_pool, r_rank and slate completeness of n requests, from two flags of shape (n,).

    A request is one of four kinds (complete in both, in the pool only, in the slate only, in neither: a slate of memory
    may show what no pool holds), so a resample of requests is a multinomial draw of the counts of the kinds: exact, and
    its cost does not grow with n.
    """
    n = len(in_pool)
    if n == 0:
        return Estimate(), Estimate(), Estimate()
    both = int(np.sum(in_pool & in_slate))
    pool_only = int(np.sum(in_pool & ~in_slate))
    slate_only = int(np.sum(in_slate & ~in_pool))
    counts = np.array([both, pool_only, slate_only, n - both - pool_only - slate_only])
    drawn = generator.multinomial(n, counts / n, size=draws)
    pooled = drawn[:, 0] + drawn[:, 1]
    ranked = drawn[pooled > 0, 0] / pooled[pooled > 0]
    return (
        _estimate((both + pool_only) / n, pooled / n),
        _estimate(both / (both + pool_only), ranked) if both + pool_only else Estimate(),
        _estimate((both + slate_only) / n, (drawn[:, 0] + drawn[:, 2]) / n),
    )


def mean_estimate(
    values: npt.NDArray[np.int32] | npt.NDArray[np.float64], draws: int, generator: np.random.Generator
) -> Estimate:
    """The mean of values of shape (n,), resampled one by one or, where n is large, by the counts of distinct values."""
    n = len(values)
    if n == 0:
        return Estimate()
    distinct: npt.NDArray[Any]
    distinct, counts = np.unique(values, return_counts=True)
    by_request = n < _INDEX_PER_COUNT * len(distinct)
    # A block of draws at a time: the whole matrix need not fit.
    block = max(1, 1_000_000 // (n if by_request else len(distinct)))
    means: list[npt.NDArray[np.float64]] = []
    for start in range(0, draws, block):
        size = min(block, draws - start)
        if by_request:
            means.append(values[generator.integers(0, n, (size, n), dtype=np.int32)].mean(axis=1))
        else:
            means.append(generator.multinomial(n, counts / n, size=size) @ distinct / n)
    return _estimate(float(np.mean(values)), np.concatenate(means))


def clustered_ratio(
    parts: npt.NDArray[np.float64],
    wholes: npt.NDArray[np.float64],
    clusters: npt.NDArray[np.integer[Any]],
    draws: int,
    generator: np.random.Generator,
) -> Estimate:
    """sum(parts) / sum(wholes), of shape (n,) each, resampled by whole clusters: `clusters[i]` is that of row i.

    Rows of one history are alike, so an interval over rows would be too narrow (Field and Welsh 2007). Clusters of
    equal sums are of one kind, and a resample is a multinomial draw of the counts of the kinds: exact.
    """
    _, codes = np.unique(clusters, return_inverse=True)
    sums = np.stack([np.bincount(codes, parts), np.bincount(codes, wholes)], axis=1) if len(codes) else np.empty((0, 2))
    if not sums[:, 1].sum():
        return Estimate()
    kinds, counts = np.unique(sums, axis=0, return_counts=True)
    block = max(1, 1_000_000 // len(kinds))
    drawn = np.concatenate(
        [
            generator.multinomial(len(sums), counts / len(sums), size=min(block, draws - start)) @ kinds
            for start in range(0, draws, block)
        ]
    )
    some = drawn[drawn[:, 1] > 0]
    return _estimate(float(sums[:, 0].sum() / sums[:, 1].sum()), some[:, 0] / some[:, 1])


def clustered_mean(
    values: npt.NDArray[np.float64],
    clusters: npt.NDArray[np.integer[Any]],
    draws: int,
    generator: np.random.Generator,
) -> Estimate:
    """The mean of values of shape (n,), resampled by whole clusters, as `clustered_ratio`."""
    return clustered_ratio(values, np.ones(len(values)), clusters, draws, generator)


def _estimate(value: float, resampled: npt.NDArray[np.float64]) -> Estimate:
    low, high = np.percentile(resampled, _INTERVAL)
    return Estimate(float(value), float(low), float(high))

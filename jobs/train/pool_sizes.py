"""What pool size would do: r_pool x r_rank of the first candidates of each pool, filled by scores out of fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from jobs.train.crossval import DRAWS, SEED
from pipeline.evaluate.by_history import Shares, shares

SHARES = (0.125, 0.25, 0.5, 0.75, 1.0)
"""The sizes that are tried, as shares of the profile's: a pool holds no more than it recalled."""


@dataclass(frozen=True)
class PoolSizes:
    """The sizes tried, ascending to the profile's own, and what each gave: rows of policies `pool SIZE`, with
    differences to the profile's."""

    sizes: tuple[int, ...]
    rows: tuple[Shares, ...]

    @property
    def advised(self) -> int:
        """The size of the highest slate completeness, averaged over the budgets, among those that are better beyond
        doubt at one budget and worse beyond doubt at none; the profile's where there is no such size."""
        better = [size for size in self.sizes if self._is_better(size)]
        return max(better, key=lambda size: (self._mean(size), -size), default=self.sizes[-1])

    @property
    def advice(self) -> str:
        """What to make of it, in a sentence or two."""
        present = self.sizes[-1]
        if self.advised != present:
            return (
                f"pool_size {self.advised} does better than the profile's {present}: {self._mean(self.advised):.3f} "
                f"against {self._mean(present):.3f} complete, over the budgets. Try it in the profile, and train again"
            )
        return f"pool_size {present} may stay: no smaller one is better beyond doubt"

    def of(self, size: int, budget: int, stratum: str = "all") -> Shares:
        """What one size gave at one budget."""
        key = (f"pool {size}", budget, stratum)
        return next(row for row in self.rows if (row.policy, row.budget, row.stratum) == key)

    @property
    def budgets(self) -> list[int]:
        """The budgets, ascending."""
        return sorted({row.budget for row in self.rows})

    def _is_better(self, size: int) -> bool:
        differences = [self.of(size, budget).difference for budget in self.budgets]
        low = [found.low for found in differences if found.low is not None]
        high = [found.high for found in differences if found.high is not None]
        return max(low, default=0.0) > 0 and min(high, default=0.0) >= 0

    def _mean(self, size: int) -> float:
        return float(np.mean([self.of(size, budget).slate_completeness.value or 0.0 for budget in self.budgets]))


def sizes_to_try(pool_size: int) -> tuple[int, ...]:
    """Some sizes up to a profile's, ascending."""
    return tuple(sorted({max(1, round(share * pool_size)) for share in SHARES}))


def pool_sizes(outcomes: pl.DataFrame, sizes: Sequence[int]) -> PoolSizes:
    """Sums up the policies `pool SIZE` of outcomes (jobs.train.judge); `sizes` ascend."""
    names = [f"pool {size}" for size in sizes]
    rows = shares(outcomes.filter(pl.col("policy").is_in(names)), names[-1], DRAWS, SEED)
    return PoolSizes(tuple(sizes), tuple(rows))

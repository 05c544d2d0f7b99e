"""Shares of policies and their paired differences, with intervals over histories."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from pipeline.evaluate.bootstrap import Estimate, clustered_mean, clustered_ratio
from pipeline.evaluate.strata import HEADLINE, STRATA

_KEY = ["history_id", "request_id"]


@dataclass(frozen=True)
class Shares:
    """One policy at one budget over one stratum: `n` requests of `n_histories` histories.

    `difference` is its slate completeness less that of another policy for the same requests, null for that policy.
    """

    policy: str
    budget: int
    stratum: str
    n: int
    n_histories: int
    r_pool: Estimate
    r_rank: Estimate
    slate_completeness: Estimate
    difference: Estimate

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        return asdict(self)


def shares(outcomes: pl.DataFrame, against: str, draws: int, seed: int) -> list[Shares]:
    """Shares by policy, budget and stratum (all, kappa >= 2) of outcomes, with differences to the policy `against`.

    `outcomes` has history_id, request_id, policy, budget, kappa, pool_complete and slate_complete, one row a (request,
    policy, budget), and the same requests under every policy. Policies stand as they come, budgets ascend.
    """
    ordered = outcomes.sort("history_id", "request_id", maintain_order=True)
    found = []
    for budget in ordered["budget"].unique().sort():
        for stratum in HEADLINE:
            cell = ordered.filter((pl.col("budget") == budget) & STRATA[stratum])
            base = cell.filter(pl.col("policy") == against).select(*_KEY, base="slate_complete")
            for policy in outcomes["policy"].unique(maintain_order=True):
                rows = cell.filter(pl.col("policy") == policy).join(base, on=_KEY, how="left", maintain_order="left")
                found.append(_shares(policy, budget, stratum, rows, policy == against, draws, seed))
    return found


def _shares(policy: str, budget: int, stratum: str, rows: pl.DataFrame, is_base: bool, draws: int, seed: int) -> Shares:
    # One seed for every cell: what is printed does not depend on which others are.
    generator = np.random.default_rng(seed)
    clusters = rows.select(pl.col("history_id").rle_id()).to_series().to_numpy()
    in_pool, in_slate, base = (
        rows[name].cast(pl.Float64).to_numpy() for name in ("pool_complete", "slate_complete", "base")
    )
    return Shares(
        policy=policy,
        budget=budget,
        stratum=stratum,
        n=rows.height,
        n_histories=rows["history_id"].n_unique(),
        r_pool=clustered_mean(in_pool, clusters, draws, generator),
        r_rank=clustered_ratio(in_slate, in_pool, clusters, draws, generator),
        slate_completeness=clustered_mean(in_slate, clusters, draws, generator),
        difference=Estimate() if is_base else clustered_mean(in_slate - base, clusters, draws, generator),
    )

"""Two policies on the same requests: the difference of their completeness, request by request."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from pipeline.evaluate.bootstrap import Estimate, clustered_mean
from pipeline.evaluate.strata import STRATA

_KEY = ["history_id", "request_id"]


@dataclass(frozen=True)
class Difference:
    """Slate completeness of both sides over `n` requests of one stratum, and ours minus theirs.

    `over_requests` resamples requests, `over_histories` whole histories: the second is what another corpus of the same
    kind would give, and means little with fewer than ten histories.
    """

    stratum: str
    budget: int
    against_budget: int
    n: int
    n_histories: int
    ours: float
    theirs: float
    over_requests: Estimate
    over_histories: Estimate

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        return asdict(self)


def paired_differences(ours: pl.DataFrame, theirs: pl.DataFrame, draws: int, seed: int) -> list[Difference]:
    """A row a (stratum, pair of budgets) that has requests.

    Both sides have history_id, request_id, budget, kappa and slate_complete, of one policy each; `theirs` also
    `of_budget`, the budget of ours that it is compared with. Requests that one side lacks are left out.
    """
    both = ours.join(
        theirs.select(*_KEY, "of_budget", against_budget="budget", against="slate_complete"),
        left_on=[*_KEY, "budget"],
        right_on=[*_KEY, "of_budget"],
        how="inner",
    ).sort(*_KEY)
    found = []
    for budget, against in both.select("budget", "against_budget").unique().sort("budget").iter_rows():
        for stratum, condition in STRATA.items():
            rows = both.filter((pl.col("budget") == budget) & condition)
            if rows.height:
                found.append(difference(stratum, budget, against, rows, draws, seed))
    return found


def difference(stratum: str, budget: int, against: int, rows: pl.DataFrame, draws: int, seed: int) -> Difference:
    """That of one stratum and pair of budgets: `rows` has history_id, request_id, slate_complete and `against`, the
    other side's, sorted by history."""
    ours, theirs = (rows[name].cast(pl.Float64).to_numpy() for name in ("slate_complete", "against"))
    histories = rows.select(pl.col("history_id").rle_id()).to_series().to_numpy()
    by_request, by_history = (
        # One seed for every cell: what is printed does not depend on which others are.
        clustered_mean(ours - theirs, clusters, draws, np.random.default_rng(seed))
        for clusters in (np.arange(rows.height), histories)
    )
    return Difference(
        stratum=stratum,
        budget=budget,
        against_budget=against,
        n=rows.height,
        n_histories=rows["history_id"].n_unique(),
        ours=float(ours.mean()),
        theirs=float(theirs.mean()),
        over_requests=by_request,
        over_histories=by_history,
    )

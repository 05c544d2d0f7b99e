"""`slatemill compare`: the latest runs of two profiles, or two policies of one, on the same requests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table

from cluster import snapshot
from cluster.errors import LakeError
from cluster.lake import Lake
from jobs.config import load_profile
from jobs.evaluate import finished_outcomes
from models.registry import log_evaluation
from pipeline.evaluate.paired import Difference, paired_differences
from pipeline.evaluate.summary import metric_name


class NothingInCommon(LakeError):
    """The two sides have no policy of that name, or no budget or request that both have."""


@dataclass(frozen=True)
class Side:
    """One policy of a profile's latest run; `budget` takes one of its budgets, None all."""

    profile: str
    policy: str
    budget: int | None = None

    @property
    def name(self) -> str:
        """As a table heads it."""
        return f"{self.profile} {self.policy}" + ("" if self.budget is None else f" at {self.budget:,}")


def side(spec: str, budget: int | None) -> Side:
    """A side from PROFILE or PROFILE:POLICY, where a profile is a name or a file. Raises ConfigError."""
    profile, _, policy = spec.partition(":")
    return Side(load_profile(profile).name, policy or "lambdarank", budget)


def compare(lake: Lake, ours: Side, theirs: Side, draws: int, seed: int) -> tuple[list[Difference], dict[str, Any]]:
    """Differences of slate completeness over requests that have evidence, are not adversarial, and of whose histories
    neither side's ranker has learned.

    Budgets are compared with their equals, or one with another where both sides name one. Raises NothingInCommon,
    SnapshotStale, NoSnapshot, RunUnfinished.
    """
    taken = {profile: snapshot.latest(lake, profile) for profile in dict.fromkeys((ours.profile, theirs.profile))}
    learned_from = {
        history
        for each in taken.values()
        for history in (each.identities.get("ranker") or {}).get("seen_histories", ())
    }
    outcomes = {profile: finished_outcomes(lake, each)[0] for profile, each in taken.items()}
    own, other = (_counted(outcomes[side.profile], side, taken[side.profile], learned_from) for side in (ours, theirs))
    paired = pl.lit(ours.budget, pl.Int32) if ours.budget is not None else pl.col("budget")
    found = paired_differences(own, other.with_columns(of_budget=paired), draws, seed)
    if not found:
        raise NothingInCommon(f"{ours.name} and {theirs.name} have no request and budget in common in {lake.url}")
    about = {
        **{
            which: {"profile": side.profile, "policy": side.policy, "run_id": taken[side.profile].run_id}
            for which, side in (("ours", ours), ("theirs", theirs))
        },
        "histories_learned_from": len(learned_from),
        "draws": draws,
        "seed": seed,
    }
    return found, about


def _counted(results: pl.DataFrame, side: Side, taken: snapshot.Snapshot, learned_from: set[str]) -> pl.DataFrame:
    """The outcomes of one side that count."""
    policies = results["policy"].unique().sort().to_list()
    if side.policy not in policies:
        raise NothingInCommon(f"run {taken.run_id} has no policy {side.policy}: its policies are {', '.join(policies)}")
    counted = (pl.col("n_evidence") > 0) & ~pl.col("adversarial") & ~pl.col("history_id").is_in(list(learned_from))
    of_budget = pl.lit(value=True) if side.budget is None else pl.col("budget") == side.budget
    return results.filter((pl.col("policy") == side.policy) & counted & of_budget)


def log(found: Sequence[Difference], about: Mapping[str, Any]) -> str:
    """Logs a comparison to MLflow, under the names of its two sides; returns its run id."""
    sides = ("ours", "theirs")
    budgets = sorted({(row.budget, row.against_budget) for row in found})
    params = {name: value for name, value in about.items() if name not in sides}
    params |= {f"{side}_{name}": value for side in sides for name, value in about[side].items()}
    for side, of_side in zip(sides, zip(*budgets, strict=True), strict=True):
        params[f"{side}_budgets"] = ",".join(map(str, of_side))
    metrics = {
        metric_name(row.stratum, "difference", row.budget, metric): value
        for row in found
        for metric, value in (
            ("difference", row.over_requests.value),
            ("low", row.over_requests.low),
            ("high", row.over_requests.high),
        )
        if value is not None
    }
    table = json.dumps({**about, "rows": [row.as_dict() for row in found]}, indent=2)
    ours, theirs = (f"{about[side]['profile']}:{about[side]['policy']}" for side in sides)
    return log_evaluation(metrics, params, {"comparison.json": table}, run_name=f"compare {ours} {theirs}")


def show_comparison(found: Sequence[Difference], ours: Side, theirs: Side, out: Console) -> None:
    """The table: completeness of both sides and the difference with its intervals."""
    table = Table(
        title=f"slate completeness: {ours.name} minus {theirs.name}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=0,
    )
    for heading in ("stratum", "budget", "n", "ours", "theirs", "difference", "95% over requests", "over histories"):
        table.add_column(heading, justify="left" if heading == "stratum" else "right", no_wrap=True)
    for row in found:
        shares = (f"{row.ours:.3f}", f"{row.theirs:.3f}", f"{row.ours - row.theirs:+.3f}")
        table.add_row(
            row.stratum,
            f"{row.budget:,}",
            f"{row.n:,}",
            *shares,
            _interval(row.over_requests),
            _interval(row.over_histories),
        )
    out.print(table)


def _interval(estimate: Any) -> str:
    return f"{estimate.low:+.3f} {estimate.high:+.3f}"

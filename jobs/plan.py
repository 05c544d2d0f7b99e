"""`slatemill plan`: what a run with the same options would do, why, and what it would cost. Writes nothing."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from cluster.batches import committed
from cluster.cache import MarkCache
from cluster.forecast import Outlook, Prospect, forecast
from cluster.graph import Shard
from cluster.lake import Lake
from cluster.plan import Plan
from cluster.pricing import Price, prices
from cluster.stamp import Reason
from jobs.config import Profile
from jobs.costs import COUNTED, by_kind
from jobs.graph import stages
from jobs.rankings import require_rankings
from jobs.teacher_stages import teacher_of_run
from models.ranker import LightGBMRanker

TO_DO = (Outlook.DO, Outlook.FOLLOW)
COSTLY = (*TO_DO, Outlook.NEEDS_BACKFILL)
"""What a run computes or may compute, and what it would with a back-fill: the outlooks that have a cost."""

Why = tuple[Outlook, tuple[Reason, ...]]


@dataclass(frozen=True)
class StagePlan:
    """One stage: its shards and their rows (of the table of ingest that it works on) by outlook, the reasons with the
    shards that have them, and its price (None: no run has worked on it)."""

    name: str
    shards: Mapping[Outlook, int]
    rows: Mapping[Outlook, int]
    why: Mapping[Why, int]
    price: Price | None

    def seconds(self, outlook: Outlook) -> float | None:
        """Worker seconds of the shards with an outlook, None where the price is unknown."""
        if not self.rows[outlook]:
            return 0.0
        return None if self.price is None else self.price.seconds_per_row * self.rows[outlook]

    def more(self, *outlooks: Outlook) -> dict[str, float]:
        """What language models and GPUs are asked for the shards with these outlooks, by jobs.costs.COUNTED."""
        rows = sum(self.rows[outlook] for outlook in outlooks)
        known = {} if self.price is None else self.price.more
        return {name: known.get(name, 0.0) * rows for name in COUNTED}


@dataclass(frozen=True)
class Planned:
    """What a run of `profile` would do. `workers` is what its time is reckoned with."""

    lake: str
    profile: str
    batches: int
    workers: int
    stages: tuple[StagePlan, ...]
    costs: Mapping[str, Mapping[str, Any]]
    """What language models are asked, by kind, for what a run does (see jobs.costs.costs)."""

    def shards(self, *outlooks: Outlook) -> int:
        """How many shards have any of the outlooks."""
        return sum(stage.shards[outlook] for stage in self.stages for outlook in outlooks)

    def seconds(self, *outlooks: Outlook) -> float:
        """Worker seconds of all stages whose price is known."""
        return sum(stage.seconds(outlook) or 0.0 for stage in self.stages for outlook in outlooks)

    def unpriced(self, *outlooks: Outlook) -> list[str]:
        """The stages that have shards to do and no price."""
        return [stage.name for stage in self.stages if None in [stage.seconds(outlook) for outlook in outlooks]]

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON. A `seconds` of null is not known."""
        return {
            "lake": self.lake,
            "profile": self.profile,
            "batches": self.batches,
            "shards": {outlook.value: self.shards(outlook) for outlook in Outlook},
            "workers": self.workers,
            "worker_seconds": {outlook.value: self.seconds(outlook) for outlook in COSTLY},
            "wall_seconds": self.seconds(*TO_DO) / self.workers,
            "unpriced": self.unpriced(*TO_DO),
            "models": self.costs,
            "stages": [_stage_dict(stage) for stage in self.stages],
        }


def plan(
    lake: Lake,
    profile: Profile,
    ranker: LightGBMRanker | None,
    backfill: Collection[str] = (),
    workers: int | None = None,
) -> Planned:
    """Plans as `jobs.run.run` does, and goes no further. Starts no Ray.

    Raises LakeError where the lake lacks a file of a committed batch, NoSuchStage for an unknown stage in `backfill`,
    and what `jobs.run.run` does.
    """
    require_rankings(lake, profile)
    batches = committed(lake)
    made = Plan(lake, stages(profile, lake.tokenizer, ranker, teacher_of_run(profile)), batches, backfill, MarkCache())
    priced = prices(lake, made.graph)
    grouped: list[dict[Shard, Prospect]] = [{} for _ in made.graph.stages]
    for shard, prospect in forecast(made).items():
        grouped[shard.stage][shard] = prospect
    found = tuple(
        _stage_plan(made, prospects, index, priced.get(made.graph.stages[index].name))
        for index, prospects in enumerate(grouped)
    )
    asked = by_kind(profile, {stage.name: stage.more(*TO_DO) for stage in found})
    return Planned(lake.url, profile.name, len(batches), workers or os.cpu_count() or 1, found, asked)


def _stage_plan(made: Plan, prospects: Mapping[Shard, Prospect], index: int, price: Price | None) -> StagePlan:
    shards: Counter[Outlook] = Counter()
    rows: Counter[Outlook] = Counter()
    why: Counter[Why] = Counter()
    root = made.graph.root(index)
    for shard, prospect in prospects.items():
        shards[prospect.outlook] += 1
        rows[prospect.outlook] += made.mark(made.lake.path(root, shard.bucket, made.batch(shard).name)).rows
        if prospect.reasons:
            why[prospect.outlook, prospect.reasons] += 1
    return StagePlan(made.graph.stages[index].name, shards, rows, why, price)


def _stage_dict(stage: StagePlan) -> dict[str, Any]:
    return {
        "stage": stage.name,
        "shards": {outlook.value: stage.shards[outlook] for outlook in Outlook},
        "rows": {outlook.value: stage.rows[outlook] for outlook in COSTLY},
        "worker_seconds": {outlook.value: stage.seconds(outlook) for outlook in COSTLY},
        "price": None
        if stage.price is None
        else {"seconds_per_row": stage.price.seconds_per_row, "of_this_choice": stage.price.of_this_choice},
        "why": [
            {
                "outlook": outlook.value,
                "reasons": [{"cause": reason.cause.value, "names": list(reason.names)} for reason in reasons],
                "shards": count,
            }
            for (outlook, reasons), count in stage.why.items()
        ],
    }

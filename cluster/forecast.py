"""What a run would do with a plan, and why, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate

from cluster import tables
from cluster.graph import Shard
from cluster.plan import Plan, State, within
from cluster.stamp import Cause, Reason

_READERS = 16
"""Footers read side by side: a store across a network answers slowly, and many at once."""


class Outlook(StrEnum):
    """What a run does with a shard."""

    REUSE = "reuse"
    """Nothing: it is up to date."""
    DO = "do"
    """Computes it."""
    FOLLOW = "follow"
    """Computes it if what an input holds turns out changed, reuses it if not. Where a costly stage is to follow, it and
    what reads it may be left instead."""
    NEEDS_BACKFILL = "needs_backfill"
    """Leaves it, for its stage is costly and was not named."""
    BLOCKED = "blocked"
    """Leaves it, for an input will not be made."""


Sums = dict[tuple[int, int], list[int]]
"""Running sums over the batches of a (stage, bucket)."""

LEFT = (Outlook.NEEDS_BACKFILL, Outlook.BLOCKED)


@dataclass(frozen=True, slots=True)
class Prospect:
    """One shard's outlook, whether a file of it is there, and the reasons (none where it is reused)."""

    outlook: Outlook
    is_there: bool
    reasons: tuple[Reason, ...] = ()


def forecast(plan: Plan) -> dict[Shard, Prospect]:
    """The prospect of every shard of a fresh plan, in the order of work.

    A run does every DO and no more than every DO and FOLLOW, as long as no shard fails. Reads footers only.
    """
    return _Forecast(plan).prospects


class _Forecast:
    """Goes through the shards in the order of work, so that what a shard reads is known before it."""

    def __init__(self, plan: Plan) -> None:
        self.prospects: dict[Shard, Prospect] = {}
        self._plan = plan
        self._notes = _notes(plan)
        self._empty: set[Shard] = set()
        self._doubtful: set[Shard] = set()
        self._sums: dict[str, Sums] = {"dead": {}, "doubtful": {}, "unsettled": {}}
        graph = plan.graph
        for index in range(len(graph.stages)):
            for bucket in graph.buckets:
                shards = [Shard(index, seq, bucket) for seq in graph.seqs(bucket)]
                for shard in shards:
                    self._look_at(shard)
                counted = {
                    "dead": [self.prospects[shard].outlook in LEFT for shard in shards],
                    "doubtful": [shard in self._doubtful for shard in shards],
                    "unsettled": [self._may_change(shard) for shard in shards],
                }
                for name, flags in counted.items():
                    self._sums[name][index, bucket] = [0, *accumulate(flags)]
        self.prospects = {shard: self.prospects[shard] for shard in graph.shards()}

    def _look_at(self, shard: Shard) -> None:
        prospect = self._prospect(shard)
        doubtful = self._inputs(shard, "doubtful")
        if doubtful and prospect.outlook in (Outlook.DO, Outlook.NEEDS_BACKFILL):
            prospect = replace(prospect, outlook=Outlook.FOLLOW)
        self.prospects[shard] = prospect
        if prospect.outlook is Outlook.FOLLOW and (doubtful or self._plan.needs_backfill(shard)):
            self._doubtful.add(shard)
        if self._stays_empty(shard, prospect):
            self._empty.add(shard)

    def _prospect(self, shard: Shard) -> Prospect:
        plan, is_there = self._plan, self._plan.is_there(shard)
        if plan.standings[shard].state is State.DONE or plan.stand_in(shard) is not None:
            return Prospect(Outlook.REUSE, is_there)
        if dead := self._inputs(shard, "dead"):
            return Prospect(Outlook.BLOCKED, is_there, (Reason(Cause.UPSTREAM, dead),))
        undone = Outlook.NEEDS_BACKFILL if plan.needs_backfill(shard) else Outlook.DO
        if not is_there:
            return Prospect(undone, False, (Reason(Cause.CHOICE if plan.is_elsewhere(shard) else Cause.NEW),))
        return self._of_file(shard, undone)

    def _of_file(self, shard: Shard, undone: Outlook) -> Prospect:
        """The prospect of a shard that has a file: `undone` is the outlook if the file is stale for certain."""
        plan = self._plan
        note, unsettled = self._notes[shard], self._inputs(shard, "unsettled")
        if not unsettled:
            if plan.mark(plan.output(shard)).stamp == plan.stamp(shard):
                return Prospect(Outlook.REUSE, True)
            return Prospect(undone, True, plan.parts(shard).changes(note) or (Reason(Cause.UNKNOWN),))
        own = plan.parts(shard, without=unsettled).changes(note) if note else ()
        if own:
            return Prospect(undone, True, own)
        return Prospect(Outlook.FOLLOW, True, (Reason(Cause.UPSTREAM, unsettled),))

    def _may_change(self, shard: Shard) -> bool:
        """Whether a run may leave another output than is there."""
        return self.prospects[shard].outlook is not Outlook.REUSE and shard not in self._empty

    def _stays_empty(self, shard: Shard, prospect: Prospect) -> bool:
        """Whether an output without a row stays one: it does where there is no row to work on."""
        plan, stage = self._plan, self._plan.stage(shard)
        primary = stage.inputs[stage.primary]
        producer = plan.graph.producer(primary)
        if producer is None:
            is_idle = not plan.mark(plan.source(shard.bucket, shard.seq, primary)).rows
        else:
            is_idle = shard._replace(stage=producer) in self._empty
        return prospect.is_there and is_idle and not plan.mark(plan.output(shard)).rows

    def _inputs(self, shard: Shard, counted: str) -> tuple[str, ...]:
        """The inputs of a shard that take any batch which counts as dead, doubtful or unsettled."""
        graph, sums, found = self._plan.graph, self._sums[counted], []
        for name, source in self._plan.stage(shard).inputs.items():
            producer = graph.producer(source)
            if producer is not None and within(sums, (producer, shard.bucket), graph.extent(shard, source)):
                found.append(name)
        return tuple(found)


def _notes(plan: Plan) -> dict[Shard, str]:
    """What the files that may be stale say of how they came to be."""
    shards = list(_undone(plan))
    paths = [plan.output(shard) for shard in shards]
    with ThreadPoolExecutor(_READERS) as readers:
        notes = readers.map(lambda path: tables.read_parts(plan.lake.storage, path), paths)
        return dict(zip(shards, notes, strict=True))


def _undone(plan: Plan) -> Iterator[Shard]:
    return (
        shard
        for shard, standing in plan.standings.items()
        if standing.state not in (State.DONE, State.BLOCKED) and plan.is_there(shard)
    )

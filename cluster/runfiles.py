"""Every file of a run, for its snapshot: what was read, written, or found done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from cluster.graph import Shard
from cluster.plan import Plan, State
from cluster.shard import ShardReport
from cluster.snapshot import FILES, NO_COST
from cluster.stage import Choice

QUARANTINE = "quarantine"


def files_of(plan: Plan, reports: Mapping[Shard, ShardReport]) -> pa.Table:
    """FILES: inputs that no stage writes, then outputs and quarantine files of every shard that is done.

    `reports` are of the shards that the run has written itself.
    """
    rows = [*_read(plan), *_made(plan, reports)]
    return pa.Table.from_pylist(rows, FILES)


def _read(plan: Plan) -> Iterator[dict[str, Any]]:
    """What ingest wrote and a done shard has read; `stage` is empty."""
    positions: dict[tuple[str, Choice | None, int], set[int]] = {}
    for shard in plan.shards(State.DONE):
        for source in plan.stage(shard).inputs.values():
            if plan.graph.producer(source) is None:
                key = (source.table, source.choice, shard.bucket)
                positions.setdefault(key, set()).update(plan.graph.extent(shard, source))
    for (table, choice, bucket), taken in positions.items():
        seqs = plan.graph.seqs(bucket)
        for position in sorted(taken):
            batch = plan.graph.batches[seqs[position]].name
            place = {"stage": "", "table": table, "bucket": bucket, "batch": batch}
            yield _row(plan, plan.lake.path(table, bucket, batch, choice), place, "read")


def _made(plan: Plan, reports: Mapping[Shard, ShardReport]) -> Iterator[dict[str, Any]]:
    for shard in plan.shards(State.DONE):
        stage, report = plan.stage(shard), reports.get(shard)
        place = {"stage": stage.name, "bucket": shard.bucket, "batch": plan.batch(shard).name}
        role = "reused" if report is None else "written"
        note = plan.note(shard)
        yield _row(plan, plan.output(shard), {**place, "table": stage.table}, role, report, note.weight)
        if note.rows:
            yield _row(plan, plan.quarantine(shard), {**place, "table": QUARANTINE}, role)


def _row(
    plan: Plan,
    path: str,
    place: Mapping[str, Any],
    role: str,
    report: ShardReport | None = None,
    quarantined: int = 0,
) -> dict[str, Any]:
    mark = plan.mark(path)
    found = {"stamp": mark.stamp, "digest": mark.digest, "rows": mark.rows}
    took = NO_COST if report is None else report.cost
    return {"path": path, **place, "role": role, **found, **took, "quarantined": quarantined}

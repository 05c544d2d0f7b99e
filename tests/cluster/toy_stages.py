"""Small stages that can be told to misbehave: what the executor's tests run."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import ray

from cluster import shard, tables
from cluster.batches import Batch, claim, commit, committed
from cluster.executor import execute
from cluster.graph import Shard
from cluster.lake import Lake
from cluster.plan import RUNNABLE, Plan
from cluster.progress import Progress
from cluster.report import RunReport, StageReport
from cluster.shard import ShardReport
from cluster.stage import Input, ModelSpec, ShardOutput, Stage

TEXT = pa.large_string()
KEY = [pa.field("history_id", TEXT, nullable=False), pa.field("n", pa.int64(), nullable=False)]
EVENTS = pa.schema(KEY)
VALUES = pa.schema([*KEY, pa.field("value", pa.int64(), nullable=False)])
SUMS = pa.schema([KEY[0], pa.field("total", pa.int64())])
QUARANTINE = pa.schema(
    [
        pa.field("history_id", TEXT),
        pa.field("n", pa.int64()),
        pa.field("code", TEXT, nullable=False),
        pa.field("reason", TEXT, nullable=False),
        pa.field("origin", TEXT, nullable=False),
        pa.field("weight", pa.int32(), nullable=False),
    ]
)


@dataclass(frozen=True)
class Behaviour:
    """How a stage misbehaves. `once` is a folder: what is done once leaves its mark there; all else is every time."""

    exit_on: tuple[int, ...] = ()
    raise_on: tuple[int, ...] = ()
    refuse: tuple[int, ...] = ()
    hang_once_on: tuple[int, ...] = ()
    exit_once_on: tuple[int, ...] = ()
    exit_when_more_than: int | None = None
    sleep_s: float = 0.0
    once: str = ""

    def misbehave(self, numbers: list[int]) -> None:
        if self.exit_when_more_than is not None and len(numbers) > self.exit_when_more_than:
            os._exit(1)
        for number in numbers:
            if number in self.exit_on or (number in self.exit_once_on and self._first(number)):
                os._exit(1)
            if number in self.raise_on:
                raise ValueError(f"number {number} is not wanted")
            if number in self.hang_once_on and self._first(number):
                time.sleep(600)
        if not self.sleep_s:
            return
        mark = Path(self.once) / f"{time.time_ns()}-{ray.get_runtime_context().get_node_id()}-{os.getpid()}"
        mark.with_suffix(".begun").touch()
        time.sleep(self.sleep_s)
        mark.with_suffix(".ended").touch()

    def _first(self, number: int) -> bool:
        try:
            (Path(self.once) / f"once-{number}-{os.getpid()}").touch()
            (Path(self.once) / f"once-{number}").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def times(inputs: Mapping[str, pa.Table], model: Any, *, factor: int, behaviour: Behaviour) -> ShardOutput:
    events = inputs["events"]
    behaviour.misbehave(events["n"].to_pylist())
    refused = pc.is_in(events["n"], pa.array(behaviour.refuse, pa.int64()))
    kept, lost = events.filter(pc.invert(refused)), events.filter(refused)
    shift = model.shift if model is not None else 0
    value = pc.add(pc.multiply(kept["n"], factor), shift)
    output = pa.Table.from_arrays([kept["history_id"], kept["n"], value], schema=VALUES)
    if not lost.num_rows:
        return ShardOutput(output)
    rows = [{**row, "code": "refused", "reason": "refused", "origin": "row", "weight": 1} for row in lost.to_pylist()]
    return ShardOutput(output, pa.Table.from_pylist(rows, QUARANTINE))


def total(inputs: Mapping[str, pa.Table], _: None, *, plus: int, names: tuple[str, ...]) -> ShardOutput:
    seen = pa.concat_tables([inputs[name] for name in names])
    sums = seen.group_by("history_id").aggregate([("value", "sum")])
    asked = inputs["asked"].select(["history_id"]).group_by("history_id").aggregate([])
    joined = asked.join(sums, "history_id").sort_by("history_id")
    return ShardOutput(pa.Table.from_arrays([joined["history_id"], pc.add(joined["value_sum"], plus)], schema=SUMS))


def triple(inputs: Mapping[str, pa.Table], _: None, *, plus: int) -> ShardOutput:
    sums = inputs["sums"]
    return ShardOutput(pa.Table.from_arrays([sums["history_id"], pc.add(sums["total"], plus)], schema=SUMS))


@dataclass(frozen=True)
class Shift:
    """A model that takes a moment to load, and can fail to."""

    shift: int
    log: str = ""
    fails: str = ""

    def load(self) -> Shift:
        if self.fails == "exit":
            os._exit(1)
        if self.fails:
            raise RuntimeError(self.fails)
        if self.log:
            (Path(self.log) / f"loaded-{os.getpid()}").touch()
        return self


def stages(
    *,
    double: Behaviour = Behaviour(),
    vectors: Behaviour = Behaviour(),
    factor: int = 2,
    version: int = 1,
    plus: int = 0,
    model: str = "one",
    shift: Shift = Shift(100),
    gpus: float = 0,
    span: str = "prefix",
) -> list[Stage]:
    """double (events) and vectors (events, model, costly) -> sums (prefix of both) -> slates."""
    events = Input("events", None, EVENTS)
    common = {"unit": ("history_id", "n"), "quarantine_schema": QUARANTINE}
    doubled = Input("double", ("kind", "plain"), VALUES, span, of_primary=True)
    shifted = Input("vectors", ("model", model), VALUES, span, of_primary=True)
    spec = ModelSpec(model, shift.load, gpus)
    by_sum = {"unit": ("history_id",), "quarantine_schema": QUARANTINE, "version": 1}
    return [
        Stage("double", version, "double", ("kind", "plain"), VALUES, {"events": events}, "events",
              compute=partial(times, factor=factor, behaviour=double), config={"factor": factor}, **common),
        Stage("vectors", 1, "vectors", ("model", model), VALUES, {"events": events}, "events",
              compute=partial(times, factor=1, behaviour=vectors), identities=(f"{model} {shift.shift}",),
              model=spec, costly=True, **common),
        Stage("sums", table="sums", choice=("profile", "toy"), schema=SUMS,
              inputs={"asked": events, "doubled": doubled, "shifted": shifted}, primary="asked",
              compute=partial(total, plus=0, names=("doubled", "shifted")), **by_sum),
        Stage("slates", table="slates", choice=("profile", "toy"), schema=SUMS,
              inputs={"sums": Input("sums", ("profile", "toy"), SUMS)}, primary="sums",
              compute=partial(triple, plus=plus), config={"plus": plus}, **by_sum),
    ]  # fmt: skip


def only(name: str, path: Sequence[Stage]) -> list[Stage]:
    return [stage for stage in path if stage.name == name]


def renamed(stage: Stage, name: str, choice: str, behaviour: Behaviour, factor: int = 1) -> Stage:
    """A further stage of the kind of `double`, with a table of its own."""
    return replace(
        stage,
        name=name,
        table=name,
        choice=("kind", choice),
        compute=partial(times, factor=factor, behaviour=behaviour),
    )


def lake(where: Path, touched: Sequence[Sequence[int]], rows: int = 6) -> Lake:
    """A lake with a batch for each entry of `touched`: `rows` numbers over two histories in each of its buckets."""
    opened = Lake.init(str(where), buckets=4)
    for position, buckets in enumerate(touched):
        arrive(opened, f"{position:064x}", buckets, position * 1000, rows)
    return opened


def arrive(opened: Lake, digest: str, buckets: Sequence[int], start: int, rows: int = 6) -> Batch:
    """One more batch: bucket b holds the numbers start + 100 b + i."""
    held = claim(opened, digest)
    for bucket in buckets:
        numbers = [start + 100 * bucket + i for i in range(rows)]
        names = [f"h{bucket}-{i * 2 // max(rows, 1)}" for i in range(rows)]
        table = pa.Table.from_arrays([pa.array(names, TEXT), pa.array(numbers, pa.int64())], schema=EVENTS)
        tables.publish(opened.storage, opened.path("events", bucket, held.name), table, EVENTS, digest)
    return commit(opened, held, buckets, {"events": rows * len(buckets)})


class Recorder:
    """A progress display that remembers what it was told."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def start(self, stages: Sequence[StageReport]) -> None:
        self.calls.append("start")

    def update(self, stage: StageReport) -> None:
        self.calls.append(stage.name)

    def tick(self) -> None:
        self.calls.append("tick")

    def stop(self) -> None:
        self.calls.append("stop")


def planned(opened: Lake, path: Sequence[Stage], **options: Any) -> Plan:
    """A plan over all that has arrived."""
    return Plan(opened, path, committed(opened), **options)


def work_off(plan: Plan) -> dict[Shard, ShardReport]:
    """Runs a plan in this process, in its order."""
    reports = {}
    while (key := next(plan.shards(*RUNNABLE), None)) is not None:
        stage = plan.stage(key)
        load = stage.model.load if stage.model is not None else lambda: None
        reports[key] = shard.run(stage, plan.lake.storage, plan.work(key), load)
        plan.finish(key, reports[key])
    return reports


def run(opened: Lake, path: Sequence[Stage], progress: Progress | None = None, **options: Any) -> RunReport:
    return execute(opened, path, committed(opened), progress=progress or Recorder(), **options)


def contents(opened: Lake) -> dict[str, list[dict[str, Any]]]:
    """Every row of every output, by path."""
    made = [
        info.path
        for table in ("double", "vectors", "sums", "slates")
        for info in opened.storage.list(table, ".parquet")
    ]
    schemas = {"double": VALUES, "vectors": VALUES, "sums": SUMS, "slates": SUMS}
    return {path: tables.read(opened.storage, [path], schemas[path.split("/")[0]]).to_pylist() for path in sorted(made)}


def quarantined(opened: Lake) -> list[dict[str, Any]]:
    """Every quarantined row."""
    paths = sorted(info.path for info in opened.storage.list("quarantine", ".parquet"))
    return tables.read(opened.storage, paths, QUARANTINE).to_pylist()


def costly_after(stage: Stage, before: Stage) -> Stage:
    """`stage` made costly, reading also the output of `before`."""
    inputs = {**stage.inputs, "before": Input(before.table, before.choice, before.schema)}
    return replace(stage, inputs=inputs, costly=True)

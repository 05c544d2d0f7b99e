"""What runs in a worker. Paths travel, not data; nothing global is set; every function can be run again at any time."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, cast

import polars as pl
import pyarrow as pa

from cluster import quarantine, tables
from cluster.errors import InputChanged, LakeError
from cluster.quarantine import QuarantineNote
from cluster.row_groups import RowGroups
from cluster.stage import NO_USAGE, ShardOutput, Stage, Usage
from cluster.storage import Storage
from cluster.tables import Mark

_IN_MEMORY = 64 << 20
"""Bytes of an output that wait in memory for its last row; of a larger one all wait on the disk."""

LoadModel = Callable[[], Any]
"""Gives the stage's model, or None for a stage without; called only when there is something to compute."""


class Source(NamedTuple):
    """One input file, and the digest that it had when the shard was planned."""

    path: str
    digest: str


@dataclass(frozen=True)
class Work:
    """All that a worker must know of one shard beside its stage."""

    label: str
    output: str
    quarantine: str
    inputs: Mapping[str, tuple[Source, ...]]
    stamp: str
    parts: str
    crashed: str


@dataclass(frozen=True)
class ShardReport:
    """What comes back from a shard: the marks of the files that are there now, and what it took."""

    mark: Mark
    quarantine_mark: Mark | None
    note: QuarantineNote
    seconds: float
    gpu_seconds: float = 0.0
    usage: Usage = NO_USAGE

    @property
    def cost(self) -> dict[str, float]:
        """What the shard took, by the names of the last columns of cluster.snapshot.FILES."""
        return {"seconds": self.seconds, "gpu_seconds": self.gpu_seconds, **self.usage._asdict()}


def run(stage: Stage, storage: Storage, work: Work, load_model: LoadModel) -> ShardReport:
    """Computes a shard and publishes its quarantine file, then its output.

    Raises LakeError when a file has not the schema or the content that was planned with, or the computed table is not
    in order, and whatever the stage raises. Nothing is left half written.
    """
    started = time.monotonic()
    crashed = _crashed(stage, storage, work)
    primary = _primary(stage, storage, work, crashed)
    lost, usage = [crashed], NO_USAGE
    with (
        cast(BinaryIO, tempfile.SpooledTemporaryFile(_IN_MEMORY)) as stream,
        tables.Encoder(stream, stage.schema, work.stamp, work.parts, stage.group_rows) as encoder,
    ):
        for part in _compute(stage, storage, work, primary, load_model):
            encoder.add(part.table)
            lost += [] if part.quarantine is None else [part.quarantine]
            usage = usage.plus(part.usage)
        mark = encoder.finish()
        left_out = pa.concat_tables(lost)
        quarantine_mark = quarantine.replace(storage, work.quarantine, left_out, stage, work.stamp)
        mark = tables.publish_encoded(storage, work.output, stream, mark)
    seconds = time.monotonic() - started
    gpus = 0.0 if stage.model is None else stage.model.gpus
    return ShardReport(mark, quarantine_mark, quarantine.note_of(left_out, stage), seconds, gpus * seconds, usage)


def count_units(stage: Stage, storage: Storage, work: Work, load_model: LoadModel) -> int:
    """Number of units of a shard; reads its inputs and loads the model, so that what kills without any row shows."""
    primary = _primary(stage, storage, work, _crashed(stage, storage, work))
    _inputs(stage, storage, work, primary)
    load_model()
    return _units(primary, stage).height


def probe(stage: Stage, storage: Storage, work: Work, load_model: LoadModel, part: range) -> None:
    """Computes some units of a shard and publishes nothing."""
    primary = _primary(stage, storage, work, _crashed(stage, storage, work))
    for _ in _compute(stage, storage, work, _within(primary, stage, part), load_model):
        pass


def take_out(
    stage: Stage, storage: Storage, work: Work, _: LoadModel, positions: Sequence[int], reason: str
) -> QuarantineNote:
    """Writes the units at `positions` to the quarantine file; the shard leaves them out from now on."""
    crashed = _crashed(stage, storage, work)
    units = _units(_primary(stage, storage, work, crashed), stage)[list(positions)]
    rows = pa.concat_tables([crashed, quarantine.crash_rows(units, stage, reason)])
    note = quarantine.note_of(rows, stage)
    quarantine.replace(storage, work.quarantine, rows, stage, note.crashed)
    return note


def _compute(
    stage: Stage, storage: Storage, work: Work, primary: pa.Table, load_model: LoadModel
) -> Iterator[ShardOutput]:
    """What the stage gives, part by part, each checked."""
    if not primary.num_rows:
        return
    inputs = _inputs(stage, storage, work, primary)
    computed = stage.compute(inputs, load_model())
    before = ""
    for output in [computed] if isinstance(computed, ShardOutput) else computed:
        tables.require_schema(output.table, stage.schema, f"output of {work.label}")
        if output.quarantine is not None:
            tables.require_schema(output.quarantine, stage.quarantine_schema, f"quarantine of {work.label}")
        if "history_id" in stage.schema.names and output.table.num_rows:
            history_ids = _series(output.table["history_id"])
            if history_ids[0] < before or not history_ids.is_sorted():
                raise LakeError(
                    f"the rows of the output of {work.label} are not sorted by history_id: a fault of its stage"
                )
            before = history_ids[-1]
        yield output
    for name, spec in stage.inputs.items():
        if spec.in_groups:
            _require_unchanged(storage, work, name)


def _primary(stage: Stage, storage: Storage, work: Work, crashed: pa.Table) -> pa.Table:
    """The rows to work on: without the units that are known to kill their worker."""
    primary = tables.read(
        storage, [source.path for source in work.inputs[stage.primary]], stage.inputs[stage.primary].schema
    )
    _require_unchanged(storage, work, stage.primary)
    if not crashed.num_rows:
        return primary
    units = quarantine.crashed_units(crashed, stage).with_columns(out=True)
    keys = _keys(primary, stage).join(units, on=stage.unit, how="left", nulls_equal=True, maintain_order="left")
    return primary.filter(keys["out"].is_null().to_arrow())


def _inputs(stage: Stage, storage: Storage, work: Work, primary: pa.Table) -> dict[str, pa.Table | RowGroups]:
    inputs = {stage.primary: primary}
    for name, spec in stage.inputs.items():
        if name == stage.primary:
            continue
        paths = [source.path for source in work.inputs[name]]
        if spec.in_groups:
            inputs[name] = RowGroups(storage, paths, spec.schema)
        else:
            histories = _series(primary["history_id"]).unique().sort().to_list() if spec.of_primary else None
            inputs[name] = tables.read(storage, paths, spec.schema, histories)
        _require_unchanged(storage, work, name)
    return inputs


def _require_unchanged(storage: Storage, work: Work, name: str) -> None:
    """The stamp names digests: a file that another run has replaced since must not be computed from under them."""
    for path, digest in work.inputs[name]:
        mark = tables.read_mark(storage, path)
        if mark is None or mark.digest != digest:
            raise InputChanged(
                f"{path} was {'removed' if mark is None else 'replaced'} while {work.label} was being computed: "
                "another run works on this lake with other settings. Let it end, then run again."
            )


def _crashed(stage: Stage, storage: Storage, work: Work) -> pa.Table:
    """The crash rows of the shard's quarantine file, which must be those that its stamp names."""
    rows = quarantine.read(storage, work.quarantine, stage)
    crashed = rows.filter(_series(rows["origin"]).eq(quarantine.CRASH).to_arrow())
    if quarantine.note_of(crashed, stage).crashed != work.crashed:
        raise InputChanged(f"{work.quarantine} was changed while {work.label} was being computed. Run again.")
    return crashed


def _units(primary: pa.Table, stage: Stage) -> pl.DataFrame:
    """The distinct units in order, with `weight`: how many rows of the primary each holds."""
    return _keys(primary, stage).group_by(stage.unit).len(name="weight").sort(stage.unit)


def _within(primary: pa.Table, stage: Stage, part: range) -> pa.Table:
    units = _units(primary, stage)[part.start : part.stop].select(*stage.unit, taken=True)
    keys = _keys(primary, stage).join(units, on=stage.unit, how="left", nulls_equal=True, maintain_order="left")
    return primary.filter(keys["taken"].is_not_null().to_arrow())


def _keys(primary: pa.Table, stage: Stage) -> pl.DataFrame:
    frame = pl.from_arrow(primary.select(list(stage.unit)))
    assert isinstance(frame, pl.DataFrame)
    return frame


def _series(column: pa.ChunkedArray) -> pl.Series:
    series = pl.from_arrow(column)
    assert isinstance(series, pl.Series)
    return series

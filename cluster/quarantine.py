"""The quarantine file of a shard: what it could not process, and the units that killed its worker."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cluster import tables
from cluster.fingerprint import fingerprint
from cluster.stage import Stage
from cluster.storage import Storage

CRASH = "crash"


@dataclass(frozen=True, slots=True)
class QuarantineNote:
    """A quarantine file in short: its rows, digest of its crashed units ("" without any), weight of all rows."""

    rows: int = 0
    crashed: str = ""
    weight: int = 0


def read(storage: Storage, path: str, stage: Stage) -> pa.Table:
    """The rows of a quarantine file; none where there is no file."""
    if not storage.exists(path):
        return stage.quarantine_schema.empty_table()
    return tables.read(storage, [path], stage.quarantine_schema)


def note_of(rows: pa.Table, stage: Stage) -> QuarantineNote:
    """What a plan must know of quarantine rows."""
    crashed = crashed_units(rows, stage)
    digest = fingerprint([list(unit) for unit in crashed.sort(stage.unit).rows()]) if crashed.height else ""
    return QuarantineNote(rows.num_rows, digest, pc.sum(rows["weight"]).as_py() or 0)


def crashed_units(rows: pa.Table, stage: Stage) -> pl.DataFrame:
    """The units that bisection took out, one row each, with the columns `stage.unit`."""
    columns = [*stage.unit, "origin"]
    return _frame(rows.select(columns)).filter(pl.col("origin") == CRASH).select(stage.unit).unique()


def crash_rows(units: pl.DataFrame, stage: Stage, reason: str) -> pa.Table:
    """Quarantine rows for units that kill their worker; `units` has stage.unit and `weight`, the rows they hold."""
    said = {
        **{name: units[name].to_arrow() for name in (*stage.unit, "weight")},
        "code": pa.repeat(CRASH, units.height),
        "reason": pa.repeat(reason, units.height),
        "origin": pa.repeat(CRASH, units.height),
    }
    columns = [
        pc.cast(said[field.name], field.type) if field.name in said else pa.nulls(units.height, field.type)
        for field in stage.quarantine_schema
    ]
    return pa.Table.from_arrays(columns, schema=stage.quarantine_schema)


def replace(storage: Storage, path: str, rows: pa.Table, stage: Stage, stamp: str) -> tables.Mark | None:
    """Makes `rows` the quarantine file, or removes it when there are none; returns the file's mark.

    The last writer wins: what a shard leaves out goes with what it computed, also when it computes anew.
    """
    if not rows.num_rows:
        if storage.exists(path):
            storage.delete(path)
        return None
    data, mark = tables.encode(rows, stage.quarantine_schema, stamp)
    storage.replace(path, data)
    return mark


def _frame(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame

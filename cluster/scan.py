"""One table of a lake as a lazy frame: committed batches only, and of some histories only what may hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import polars as pl
import pyarrow as pa
from polars.io.plugins import register_io_source

from cluster import tables
from cluster.batches import committed
from cluster.errors import LakeError
from cluster.lake import BUCKET_FILE, Lake, bucket_folder


def scan(
    lake: Lake,
    table: str,
    choice: tuple[str, str] | None = None,
    histories: Sequence[str] | None = None,
    schema: pa.Schema | None = None,
) -> pl.LazyFrame:
    """The rows of every committed batch of a table, in order of batch and bucket; with `histories`, of those only.

    Of `histories` only the buckets that they lie in are listed, and within a file only row groups that may hold them
    are read. Files are opened when the frame is collected, but for one, whose schema must be `schema` where that is
    given. All files must have one schema.

    Raises SchemaMismatch at once, for the first file; LakeError where the table has no file and no `schema` is given.
    Collecting raises polars.exceptions.SchemaError (SchemaMismatch from other storage than a disk) for another file.
    """
    if isinstance(histories, str):
        raise TypeError(f"histories is a list of names: [{histories!r}]")
    place = lake.folder(table, choice)
    paths = _paths(lake, place, histories)
    found = _schema(lake, place, paths, schema)
    if found is None:
        raise LakeError(_nothing(lake, table, place))
    wanted = None if histories is None else sorted(set(histories))
    if not paths:
        frame = pl.LazyFrame(schema=_polars_schema(found))
    elif lake.storage.local:
        full = [lake.storage.full(path) for path in paths]
        frame = pl.scan_parquet(full, schema=_polars_schema(found), hive_partitioning=False, glob=False)
    else:
        frame = _through_fsspec(lake, paths, found, wanted)
    return frame if wanted is None else frame.filter(pl.col("history_id").is_in(wanted))


def _paths(lake: Lake, place: str, histories: Sequence[str] | None) -> list[str]:
    """Files of committed batches, in order of batch and bucket."""
    folders = [place]
    if histories is not None:
        buckets = sorted({int(bucket) for bucket in lake.bucket_of(list(histories))})
        folders = [f"{place}/{bucket_folder(bucket)}" for bucket in buckets]
    order = {batch.name: batch.seq for batch in committed(lake)}
    found = []
    for folder in folders:
        for info in lake.storage.list(folder, ".parquet"):
            match = re.fullmatch(BUCKET_FILE, info.path.removeprefix(f"{place}/"))
            if match and match["batch"] in order:
                found.append((order[match["batch"]], info.path))
    return [path for _, path in sorted(found)]


def _schema(lake: Lake, place: str, paths: Sequence[str], schema: pa.Schema | None) -> pa.Schema | None:
    """The schema of the table: what its first file has, which must be what the caller expects."""
    if not paths:
        # What these histories lack, others may have.
        return schema if schema is not None else _schema_of_first(lake, _paths(lake, place, None))
    found = _schema_of_first(lake, paths)
    if schema is not None and found is not None:
        tables.require_schema(found.empty_table(), schema, paths[0])
    return found


def _schema_of_first(lake: Lake, paths: Sequence[str]) -> pa.Schema | None:
    return tables.read_schema(lake.storage, paths[0]) if paths else None


def _through_fsspec(
    lake: Lake, paths: Sequence[str], schema: pa.Schema, histories: Sequence[str] | None
) -> pl.LazyFrame:
    """Reads as the lake itself does, file by file: what opens the lake opens its files, whatever storage it is."""

    def read(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        columns = None
        if with_columns is not None:
            columns = list(
                dict.fromkeys([*with_columns, *(predicate.meta.root_names() if predicate is not None else [])])
            )
        left = n_rows
        for path in paths:
            if left is not None and left <= 0:
                return
            frame = pl.DataFrame(pl.from_arrow(tables.read(lake.storage, [path], schema, histories, columns)))
            frame = frame if left is None else frame.head(left)
            left = None if left is None else left - frame.height
            frame = frame if predicate is None else frame.filter(predicate)
            yield frame if with_columns is None else frame.select(with_columns)

    return register_io_source(read, schema=_polars_schema(schema))


def _polars_schema(schema: pa.Schema) -> pl.Schema:
    return pl.DataFrame(pl.from_arrow(schema.empty_table())).schema


def _nothing(lake: Lake, table: str, place: str) -> str:
    found = {PurePosixPath(info.path).parts[0] for info in lake.storage.list("", ".parquet")} - {"runs", "quarantine"}
    if table not in found:
        return f"{lake.url} has no table {table}; it has {', '.join(sorted(found)) or 'none yet'}"
    choices = [f"{name}={value!r}" for name, value in lake.choices(table)]
    asked = place.removeprefix(table).removeprefix("/") or "without a choice"
    return f"{lake.url} has no {table} {asked}; give one of these: {', '.join(choices) or 'none, it has no choice'}"

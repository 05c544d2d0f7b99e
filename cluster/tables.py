"""Tables as Parquet files that carry a stamp and a digest in the footer; the schema is checked at both ends."""

from __future__ import annotations

import hashlib
import io
import os
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import IO, TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cluster.cache import MarkCache
from cluster.errors import LakeError, SchemaMismatch
from cluster.storage import Storage

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

ROW_GROUP = 8192
_STAMP = b"slatemill.stamp"
_DIGEST = b"slatemill.digest"
_PARTS = b"slatemill.parts"


@dataclass(frozen=True)
class Mark:
    """What a footer says: how the file came to be (stamp), what is in it (digest), and how many rows."""

    stamp: str
    digest: str
    rows: int


class _HashingSink(io.RawIOBase):
    """Hashes what is written to a stream, and leaves the stream open."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.running = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        self.running.update(data)
        return self._stream.write(data)

    def tell(self) -> int:
        return self._stream.tell()


def require_schema(table: pa.Table, schema: pa.Schema, what: str) -> None:
    """Raises SchemaMismatch, with both sides, unless a table has exactly this schema (metadata aside), nulls too."""
    if not table.schema.equals(schema, check_metadata=False):
        raise SchemaMismatch(_difference(table.schema, schema, what))
    for field, column in zip(schema, table.columns, strict=True):
        if not field.nullable and column.null_count:
            raise SchemaMismatch(f"{what} has {column.null_count} nulls in {field.name}, which allows none")


class Encoder:
    """Writes one Parquet file to a stream, from tables that are added one after the other.

    Equal rows in groups of one size give equal digests. `parts` says what the stamp is made of (cluster.stamp), where
    it is to be told apart later. `stream` is empty, can be read and sought in, and stays open. As a context it ends the
    writing of a file that is given up.
    """

    def __init__(
        self, stream: BinaryIO, schema: pa.Schema, stamp: str, parts: str = "", group_rows: int = ROW_GROUP
    ) -> None:
        self.stream = stream
        self._schema = schema
        self._stamp = stamp
        self._parts = parts
        self._group_rows = group_rows
        self._sink = _HashingSink(stream)
        options = {"compression": "zstd", "compression_level": 3}
        self._writer = pq.ParquetWriter(pa.PythonFile(self._sink, mode="w"), schema, **options)
        self._waiting = schema.empty_table()
        self._rows = 0

    def __enter__(self) -> Encoder:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def add(self, table: pa.Table) -> None:
        """Writes the rows of a table, group by group. Raises SchemaMismatch."""
        require_schema(table, self._schema, "the table to write")
        self._rows += table.num_rows
        self._waiting = pa.concat_tables([self._waiting, table.replace_schema_metadata(None)])
        whole = self._waiting.num_rows - self._waiting.num_rows % self._group_rows
        self._write(self._waiting.slice(0, whole))
        self._waiting = self._waiting.slice(whole)

    def finish(self) -> Mark:
        """Writes what is left; the mark of the file, which is whole from here on."""
        self._write(self._waiting)
        # Row groups reach the sink as they are written; what follows is the footer.
        body, digest = self._sink.tell(), self._sink.running.hexdigest()
        said = {_STAMP: self._stamp, _DIGEST: digest, **({_PARTS: self._parts} if self._parts else {})}
        self._writer.add_key_value_metadata({key.decode(): value for key, value in said.items()})
        self._writer.close()
        end = self.stream.seek(-8, os.SEEK_END)
        if body + int.from_bytes(self.stream.read(4), "little") != end:
            raise LakeError("pyarrow wrote rows after their digest was taken: install the pyarrow of constraints.txt")
        return Mark(self._stamp, digest, self._rows)

    def _write(self, table: pa.Table) -> None:
        for start in range(0, table.num_rows, self._group_rows):
            # Pages end where chunks do: one chunk a group, however the tables came.
            group = table.slice(start, self._group_rows).combine_chunks()
            self._writer.write_table(group, row_group_size=self._group_rows)


def encode(table: pa.Table, schema: pa.Schema, stamp: str, parts: str = "") -> tuple[bytes, Mark]:
    """A table as the bytes of a Parquet file, with its mark. Raises SchemaMismatch."""
    stream = io.BytesIO()
    encoder = Encoder(stream, schema, stamp, parts)
    encoder.add(table)
    mark = encoder.finish()
    return stream.getvalue(), mark


def publish(storage: Storage, path: str, table: pa.Table, schema: pa.Schema, stamp: str, parts: str = "") -> Mark:
    """Writes a table where it belongs and returns the mark of the file that is there afterwards.

    Raises SchemaMismatch.
    """
    return publish_encoded(storage, path, *encode(table, schema, stamp, parts))


def publish_encoded(storage: Storage, path: str, data: bytes | BinaryIO, mark: Mark) -> Mark:
    """Writes an encoded file where it belongs and returns the mark of the file that is there afterwards.

    A file with the same stamp is left alone (the first writer wins); a stale one is replaced in one step.
    """
    if storage.create(path, data):
        return mark
    there = read_mark(storage, path)
    if there is not None and there.stamp == mark.stamp:
        return there
    storage.replace(path, data)
    return mark


def read_mark(storage: Storage, path: str, cache: MarkCache | None = None) -> Mark | None:
    """The mark of a file, None where there is no file. Raises LakeError for a file without one."""
    info = storage.info(path)
    if info is None:
        return None
    full = storage.full(path)
    if cache is not None and (kept := cache.get(full, info.size, info.version)) is not None:
        return Mark(**kept)
    try:
        with storage.open_input(path) as stream:
            footer = pq.read_metadata(stream)
        values = footer.metadata or {}
        mark = Mark(values[_STAMP].decode(), values[_DIGEST].decode(), footer.num_rows)
    except (pa.ArrowInvalid, KeyError) as error:
        raise LakeError(
            f"{path} was not written by slatemill (no stamp in its footer): move it out of the lake"
        ) from error
    if cache is not None:
        cache.put(full, info.size, info.version, asdict(mark))
    return mark


def read_parts(storage: Storage, path: str) -> str:
    """What the stamp of a file is made of, as noted by who wrote it; empty where there is no note or no file."""
    try:
        with storage.open_input(path) as stream:
            return ((pq.read_metadata(stream).metadata or {}).get(_PARTS) or b"").decode()
    except FileNotFoundError:
        return ""


def read_schema(storage: Storage, path: str) -> pa.Schema:
    """The schema of a file, without metadata. Raises LakeError when it is torn, FileNotFoundError."""
    with storage.open_input(path) as stream:
        return _opened(stream, path).schema_arrow.remove_metadata()


def read(
    storage: Storage,
    paths: Sequence[str],
    schema: pa.Schema,
    history_ids: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """The rows of several files, in the order of `paths`; with `history_ids`, of those histories only.

    Raises SchemaMismatch when a file has another schema, LakeError when it is torn, FileNotFoundError when it
    is missing.
    """
    wanted = None if history_ids is None else pa.array(history_ids, pa.large_string())
    kept = schema if columns is None else pa.schema([schema.field(name) for name in columns])
    parts = [_read_one(storage, path, schema, wanted, columns) for path in paths]
    return pa.concat_tables([kept.empty_table(), *parts]).cast(kept)


def _read_one(
    storage: Storage, path: str, schema: pa.Schema, wanted: pa.Array | None, columns: Sequence[str] | None
) -> pa.Table:
    with storage.open_input(path) as stream:
        file = open_file(stream, path, schema)
        if wanted is None:
            return file.read(columns=columns).replace_schema_metadata(None)
        groups = groups_of(history_bounds(file.metadata), wanted.to_pylist())
        needed = None if columns is None else list(dict.fromkeys([*columns, "history_id"]))
        table = file.read_row_groups(groups, columns=needed).replace_schema_metadata(None)
    table = table.filter(pc.is_in(table["history_id"], wanted))
    return table if columns is None else table.select(columns)


def open_file(stream: IO[bytes], path: str, schema: pa.Schema) -> pq.ParquetFile:
    """A Parquet file that has this schema. Raises LakeError when it is torn, SchemaMismatch."""
    file = _opened(stream, path)
    found = file.schema_arrow.remove_metadata()
    if not found.equals(schema, check_metadata=False):
        raise SchemaMismatch(_difference(found, schema, path))
    return file


def _opened(stream: IO[bytes], path: str) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(stream)
    except pa.ArrowInvalid as error:
        raise LakeError(f"{path} is no whole Parquet file: delete it and run again") from error


def history_bounds(footer: pq.FileMetaData) -> list[tuple[str, str] | None]:
    """The first and last history_id of each row group; None where the file does not say."""
    # Leaves are counted, not fields: a nested column has several.
    leaves = [footer.schema.column(index).path for index in range(len(footer.schema))]
    place = leaves.index("history_id")
    found: list[tuple[str, str] | None] = []
    for index in range(footer.num_row_groups):
        statistics = footer.row_group(index).column(place).statistics
        known = statistics is not None and statistics.has_min_max
        found.append((statistics.min, statistics.max) if known else None)
    return found


def groups_of(bounds: Sequence[tuple[str, str] | None], history_ids: Sequence[str]) -> list[int]:
    """Row groups that may hold any of the histories: rows are sorted by history_id."""
    names = sorted(history_ids)
    groups = []
    for index, bound in enumerate(bounds):
        first = 0 if bound is None else bisect_left(names, bound[0])
        if first < len(names) and (bound is None or names[first] <= bound[1]):
            groups.append(index)
    return groups


def _difference(found: pa.Schema, expected: pa.Schema, what: str) -> str:
    names = dict.fromkeys([*expected.names, *found.names])
    lines = []
    for name in names:
        left = found.field(name) if name in found.names else None
        right = expected.field(name) if name in expected.names else None
        if left is None or right is None or not left.equals(right):
            lines.append(f"  {name}: found {left}, expected {right}")
    detail = "\n".join(lines) or "  the order of the columns differs"
    return f"{what} has another schema.\nDifferences:\n{detail}\nFound:\n{found}\nExpected:\n{expected}"

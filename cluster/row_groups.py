"""A table that is read one row group at a time, history by history: for tables that would not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cluster import tables
from cluster.errors import InputChanged
from cluster.storage import FileInfo, Storage


class RowGroups:
    """The rows of several files of one schema. Of the files it holds the footers, and of the rows none.

    Raises SchemaMismatch when a file has another schema, LakeError when it is torn, FileNotFoundError.
    """

    def __init__(self, storage: Storage, paths: Sequence[str], schema: pa.Schema) -> None:
        self._storage = storage
        self._files = [_opened(storage, path, schema) for path in paths]

    def of_history(self, history_id: str) -> Iterator[pa.Table]:
        """The rows of a history in the order of files, of each file one row group after the other.

        Raises InputChanged when a file was replaced or removed since this was made.
        """
        wanted = pa.scalar(history_id, pa.large_string())
        for file in self._files:
            groups = tables.groups_of(file.bounds, [history_id])
            if not groups:
                continue
            if self._storage.info(file.info.path) != file.info:  # its footer would lead to other bytes
                raise InputChanged(
                    f"{file.info.path} was replaced while it was being read: another run works on this lake with other "
                    "settings. Let it end, then run again."
                )
            with self._storage.open_input(file.info.path) as stream:
                opened = pq.ParquetFile(stream, metadata=file.footer)
                for group in groups:
                    table = opened.read_row_group(group).replace_schema_metadata(None)
                    whole = file.bounds[group] == (history_id, history_id)
                    yield table if whole else table.filter(pc.equal(table["history_id"], wanted))


class _File(NamedTuple):
    """A file as it was found, its footer, and the first and last history of each row group."""

    info: FileInfo
    footer: pq.FileMetaData
    bounds: list[tuple[str, str] | None]


def _opened(storage: Storage, path: str, schema: pa.Schema) -> _File:
    info = storage.info(path)
    if info is None:
        raise FileNotFoundError(path)
    with storage.open_input(path) as stream:
        footer = tables.open_file(stream, path, schema).metadata
    return _File(info, footer, tables.history_bounds(footer))

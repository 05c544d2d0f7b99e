"""A history is read from the row groups that may hold it, whole and in order, whatever files and groups it lies in."""

from __future__ import annotations

import io
import uuid

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster import tables
from cluster.errors import SchemaMismatch
from cluster.row_groups import RowGroups
from cluster.storage import Storage

TEXT = pa.large_string()
SCHEMA = pa.schema([pa.field("history_id", TEXT, nullable=False), pa.field("n", pa.int64(), nullable=False)])
FILES = st.lists(st.lists(st.sampled_from("abcde"), max_size=12).map(sorted), max_size=3)


def written(storage: Storage, files: list[list[str]], group_rows: int) -> list[str]:
    """A file for each list of history ids; every row has a number of its own."""
    paths, start = [], 0
    for number, ids in enumerate(files):
        table = pa.Table.from_arrays([pa.array(ids, TEXT), pa.array(range(start, start + len(ids)))], schema=SCHEMA)
        stream = io.BytesIO()
        encoder = tables.Encoder(stream, SCHEMA, "stamp", group_rows=group_rows)
        encoder.add(table)
        tables.publish_encoded(storage, f"{number}.parquet", stream, encoder.finish())
        paths.append(f"{number}.parquet")
        start += len(ids)
    return paths


@settings(max_examples=60)
@given(FILES, st.integers(1, 4), st.sampled_from("abcdef"))
def test_the_parts_of_a_history_are_its_rows_in_order_and_none_is_larger_than_a_group(
    files: list[list[str]], group_rows: int, history: str
) -> None:
    storage = Storage(f"memory://{uuid.uuid4().hex}")
    parts = list(RowGroups(storage, written(storage, files, group_rows), SCHEMA).of_history(history))
    assert [row["n"] for part in parts for row in part.to_pylist()] == [
        n for n, name in enumerate(name for ids in files for name in ids) if name == history
    ]
    assert all(part["history_id"].to_pylist() == [history] * part.num_rows for part in parts)
    assert all(part.num_rows <= group_rows for part in parts)


@pytest.mark.flash
def test_groups_of_other_histories_are_not_read_nor_are_their_files_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = Storage(f"memory://{uuid.uuid4().hex}")
    reader = RowGroups(storage, written(storage, [["a"] * 4 + ["b"] * 4, ["c"] * 4], 2), SCHEMA)
    opened, read = [], []
    open_input, read_row_group = Storage.open_input, tables.pq.ParquetFile.read_row_group
    monkeypatch.setattr(Storage, "open_input", lambda self, path: (opened.append(path), open_input(self, path))[1])
    monkeypatch.setattr(
        tables.pq.ParquetFile,
        "read_row_group",
        lambda self, group: (read.append(group), read_row_group(self, group))[1],
    )
    assert [part.num_rows for part in reader.of_history("b")] == [2, 2]
    assert (opened, read) == (["0.parquet"], [2, 3])
    assert list(reader.of_history("nobody")) == []


@pytest.mark.flash
def test_a_file_with_another_schema_is_refused_before_anything_is_read() -> None:
    storage = Storage(f"memory://{uuid.uuid4().hex}")
    paths = written(storage, [["a"]], 2)
    with pytest.raises(SchemaMismatch, match="expected"):
        RowGroups(storage, paths, pa.schema([SCHEMA.field("history_id")]))

"""A file says what it is made of and what is in it; a table comes back exactly as it was, or not at all."""

from __future__ import annotations

import hashlib
import io
import itertools
import uuid
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from races import raced

from cluster import tables
from cluster.cache import MarkCache
from cluster.errors import LakeError, SchemaMismatch
from cluster.storage import Storage

TEXT = pa.large_string()
SCHEMA = pa.schema(
    [
        pa.field("history_id", TEXT, nullable=False),
        pa.field("n", pa.int64()),
        pa.field("vector", pa.list_(pa.float16(), 3), nullable=False),
        pa.field("items", pa.large_list(pa.struct([pa.field("a", pa.int32(), nullable=False), pa.field("b", TEXT)]))),
    ]
)
SMALL = pa.schema([pa.field("history_id", TEXT, nullable=False), pa.field("n", pa.int64(), nullable=False)])
STAMP = "5" * 64

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "history_id": st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
            "n": st.none() | st.integers(-(2**63), 2**63 - 1),
            "vector": st.lists(st.sampled_from([0.0, 0.5, -1.0]), min_size=3, max_size=3),
            "items": st.none()
            | st.lists(
                st.fixed_dictionaries({"a": st.integers(-9, 9), "b": st.none() | st.text("xyzä", max_size=3)}),
                max_size=3,
            ),
        }
    ),
    max_size=12,
)


@pytest.fixture(params=["local", "memory"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    return Storage(str(tmp_path / "lake") if request.param == "local" else f"memory://{uuid.uuid4().hex}/lake")


def full(rows: list[dict[str, object]]) -> pa.Table:
    vectors = np.array([row["vector"] for row in rows], np.float16).reshape(-1)
    columns = [
        pa.array([row["history_id"] for row in rows], TEXT),
        pa.array([row["n"] for row in rows], pa.int64()),
        pa.FixedSizeListArray.from_arrays(pa.array(vectors, pa.float16()), 3),
        pa.array([row["items"] for row in rows], SCHEMA.field("items").type),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def small(*rows: tuple[str, int]) -> pa.Table:
    return pa.Table.from_pylist([{"history_id": history, "n": n} for history, n in rows], SMALL)


def histories(count: int, rows_each: int) -> pa.Table:
    ids = np.repeat([f"h{k:06d}" for k in range(count)], rows_each)
    return pa.Table.from_arrays([pa.array(ids, TEXT), pa.array(np.arange(len(ids)))], schema=SMALL)


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_a_table_comes_back_as_it_was(rows: list[dict[str, object]]) -> None:
    storage = Storage(f"memory://{uuid.uuid4().hex}")
    table = full(rows)
    mark = tables.publish(storage, "t.parquet", table, SCHEMA, STAMP)
    back = tables.read(storage, ["t.parquet"], SCHEMA)
    assert back.equals(table)
    assert back.schema.equals(SCHEMA, check_metadata=True)
    assert mark == tables.read_mark(storage, "t.parquet") == tables.Mark(STAMP, mark.digest, len(rows))


@settings(max_examples=60, deadline=None)
@given(ROWS, st.lists(st.integers(0, 12), max_size=4))
def test_the_digest_does_not_know_of_chunks(rows: list[dict[str, object]], cuts: list[int]) -> None:
    table = full(rows)
    borders = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    parts = [table.slice(start, end - start) for start, end in itertools.pairwise(borders)]
    assert tables.encode(pa.concat_tables(parts), SCHEMA, STAMP)[0] == tables.encode(table, SCHEMA, STAMP)[0]


@pytest.mark.flash
def test_a_large_table_has_one_digest_however_it_is_chunked() -> None:
    table = histories(3000, 10)
    parts = [table.slice(0, 5), table.slice(5, 20_000), table.slice(20_005)]
    assert tables.encode(pa.concat_tables(parts), SMALL, "a")[1].digest == tables.encode(table, SMALL, "b")[1].digest
    assert tables.encode(table.slice(1), SMALL, "a")[1].digest != tables.encode(table, SMALL, "a")[1].digest


@pytest.mark.flash
def test_a_file_grows_on_disk_as_it_would_in_memory_and_replaces_a_stale_one(storage: Storage, tmp_path: Path) -> None:
    table = histories(3000, 10)
    tables.publish(storage, "t.parquet", table.slice(1), SMALL, "stale")
    with (tmp_path / "growing").open("w+b") as stream:
        encoder = tables.Encoder(stream, SMALL, STAMP)
        for start in range(0, table.num_rows, 7_001):
            encoder.add(table.slice(start, 7_001))
        mark = encoder.finish()
        assert tables.publish_encoded(storage, "t.parquet", stream, mark) == mark
    assert (storage.read_bytes("t.parquet"), mark) == tables.encode(table, SMALL, STAMP)


@pytest.mark.flash
def test_the_digest_is_of_the_bytes_before_the_footer() -> None:
    content, mark = tables.encode(histories(3000, 10), SMALL, STAMP)
    footer = int.from_bytes(content[-8:-4], "little")
    assert hashlib.sha256(content[: -8 - footer]).hexdigest() == mark.digest
    metadata = pq.read_metadata(io.BytesIO(content))
    assert metadata.metadata[b"slatemill.stamp"].decode() == STAMP
    assert metadata.metadata[b"slatemill.digest"].decode() == mark.digest
    assert metadata.row_group(0).num_rows == 8192
    assert metadata.row_group(0).column(0).compression == "ZSTD"


@pytest.mark.flash
def test_a_table_without_rows_is_a_file_with_the_whole_schema(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path))
    mark = tables.publish(storage, "t.parquet", SCHEMA.empty_table(), SCHEMA, STAMP)
    assert mark.rows == 0
    assert tables.read(storage, ["t.parquet"], SCHEMA).equals(SCHEMA.empty_table())
    assert tables.read(storage, ["t.parquet"], SCHEMA, ["h"]).num_rows == 0
    assert pl.read_parquet(tmp_path / "*.parquet").columns == SCHEMA.names


@pytest.mark.flash
def test_the_first_writer_of_a_stamp_wins_and_a_stale_file_is_replaced(storage: Storage) -> None:
    first = tables.publish(storage, "t.parquet", small(("a", 1)), SMALL, "s1")
    assert tables.publish(storage, "t.parquet", small(("a", 2)), SMALL, "s1") == first
    assert tables.read(storage, ["t.parquet"], SMALL)["n"].to_pylist() == [1]
    second = tables.publish(storage, "t.parquet", small(("a", 2)), SMALL, "s2")
    assert tables.read_mark(storage, "t.parquet") == second != first
    assert tables.read(storage, ["t.parquet"], SMALL)["n"].to_pylist() == [2]


@pytest.mark.flash
def test_files_are_read_in_the_order_asked_for(storage: Storage) -> None:
    tables.publish(storage, "x.parquet", small(("a", 1), ("b", 2)), SMALL, STAMP)
    tables.publish(storage, "w.parquet", small(("b", 3), ("c", 4)), SMALL, STAMP)
    paths = ["x.parquet", "w.parquet"]
    assert tables.read(storage, paths, SMALL)["n"].to_pylist() == [1, 2, 3, 4]
    assert tables.read(storage, paths, SMALL, ["b"])["n"].to_pylist() == [2, 3]
    assert tables.read(storage, paths, SMALL, ["b"], ["n"]).schema == pa.schema([SMALL.field("n")])
    assert tables.read(storage, paths, SMALL, ["zz"]).num_rows == 0
    assert tables.read(storage, paths, SMALL, []).num_rows == 0
    assert tables.read(storage, [], SMALL).equals(SMALL.empty_table())
    with pytest.raises(KeyError):
        tables.read(storage, paths, SMALL, columns=["nothing"])


def test_only_the_row_groups_of_a_history_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = Storage(str(tmp_path))
    table = histories(4000, 10)
    tables.publish(storage, "t.parquet", table, SMALL, STAMP)
    read: list[int] = []
    original = pq.ParquetFile.read_row_groups

    def recorded(self: pq.ParquetFile, row_groups: list[int], **options: object) -> pa.Table:
        read.extend(row_groups)
        return original(self, row_groups, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", recorded)
    assert tables.read(storage, ["t.parquet"], SMALL, ["h002500"])["n"].to_pylist() == list(range(25_000, 25_010))
    assert read == [3]


@settings(max_examples=30, deadline=None)
@given(ROWS, st.sets(st.text(st.characters(exclude_categories=["Cs"]), max_size=2), max_size=4), st.data())
def test_reading_some_histories_is_filtering_all(
    rows: list[dict[str, object]], others: set[str], data: st.DataObject
) -> None:
    storage = Storage(f"memory://{uuid.uuid4().hex}")
    rows = sorted(rows, key=lambda row: str(row["history_id"]))
    tables.publish(storage, "t.parquet", full(rows), SCHEMA, STAMP)
    some = data.draw(st.lists(st.sampled_from([row["history_id"] for row in rows]))) if rows else []
    wanted = [*map(str, some), *others]
    kept = [row for row in rows if row["history_id"] in wanted]
    assert tables.read(storage, ["t.parquet"], SCHEMA, wanted).equals(full(kept))


@pytest.mark.flash
@pytest.mark.parametrize(
    "found",
    [
        pa.schema([SMALL.field("n"), SMALL.field("history_id")]),
        pa.schema([SMALL.field("history_id"), pa.field("n", pa.int32(), nullable=False)]),
        pa.schema([SMALL.field("history_id"), pa.field("n", pa.int64())]),
        pa.schema([SMALL.field("history_id")]),
        pa.schema([*SMALL, pa.field("more", TEXT)]),
    ],
    ids=["order", "type", "nullability", "fewer", "more"],
)
def test_another_schema_is_refused_at_both_ends(storage: Storage, found: pa.Schema) -> None:
    with pytest.raises(SchemaMismatch):
        tables.publish(storage, "t.parquet", found.empty_table(), SMALL, STAMP)
    assert tables.read_mark(storage, "t.parquet") is None
    tables.publish(storage, "t.parquet", found.empty_table(), found, STAMP)
    with pytest.raises(SchemaMismatch, match=r"t\.parquet"):
        tables.read(storage, ["t.parquet"], SMALL)


@pytest.mark.flash
def test_a_mismatch_prints_both_sides_of_what_differs() -> None:
    found = pa.schema([SMALL.field("history_id"), pa.field("n", pa.int32())])
    with pytest.raises(SchemaMismatch, match=r"(?s)my table.*n: .*int.*int"):
        tables.require_schema(found.empty_table(), SMALL, "my table")


@pytest.mark.flash
def test_metadata_is_no_part_of_a_schema(storage: Storage) -> None:
    table = small(("a", 1))
    dressed = table.replace_schema_metadata({"pandas": "x"})
    assert tables.encode(dressed, SMALL, STAMP)[0] == tables.encode(table, SMALL, STAMP)[0]


@pytest.mark.flash
def test_a_foreign_and_a_torn_file_are_named(storage: Storage) -> None:
    foreign = io.BytesIO()
    pq.write_table(small(("a", 1)), foreign)
    storage.create("foreign.parquet", foreign.getvalue())
    storage.create("torn.parquet", tables.encode(small(("a", 1)), SMALL, STAMP)[0][:-20])
    for name in ("foreign.parquet", "torn.parquet"):
        with pytest.raises(LakeError, match=name):
            tables.read_mark(storage, name)
    assert tables.read_mark(storage, "missing.parquet") is None
    with pytest.raises(FileNotFoundError):
        tables.read(storage, ["missing.parquet"], SMALL)


@pytest.mark.flash
def test_a_cached_mark_follows_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    storage, cache = Storage(str(tmp_path / "lake")), MarkCache()
    first = tables.publish(storage, "t.parquet", small(("a", 1)), SMALL, "s" * 64)
    assert tables.read_mark(storage, "t.parquet", cache) == first
    with monkeypatch.context() as blind:
        blind.setattr(Storage, "open_input", lambda *_: pytest.fail("the file was opened though its mark is known"))
        assert tables.read_mark(storage, "t.parquet", cache) == first
    second = tables.publish(storage, "t.parquet", small(("a", 1)), SMALL, "z" * 64)
    assert tables.read_mark(storage, "t.parquet", cache) == second
    storage.delete("t.parquet")
    assert tables.read_mark(storage, "t.parquet", cache) is None


RACER = """
import sys, time
import pyarrow as pa
from cluster import tables
from cluster.storage import Storage
schema = pa.schema([pa.field("history_id", pa.large_string(), nullable=False)])
storage, me, start = Storage(sys.argv[1]), sys.argv[2], float(sys.argv[3])
time.sleep(max(0.0, start - time.time()))
for k in range(20):
    table = pa.table({"history_id": [me] * 2000}, schema)
    print(tables.publish(storage, f"t/{k}.parquet", table, schema, "stamp").digest)
"""


def test_racing_writers_of_one_stamp_agree_on_what_was_written(tmp_path: Path) -> None:
    told = [said.split() for said in raced(RACER, tmp_path, racers=4)]
    storage = Storage(str(tmp_path))
    marks = [tables.read_mark(storage, f"t/{k}.parquet") for k in range(20)]
    assert told == [[mark.digest for mark in marks if mark]] * 4


@pytest.mark.flash
def test_a_null_where_none_may_be_is_a_mismatch() -> None:
    broken = pa.Table.from_arrays([pa.array(["a", None], TEXT), pa.array([1, 2])], schema=SMALL)
    with pytest.raises(SchemaMismatch, match="history_id"):
        tables.encode(broken, SMALL, STAMP)


@pytest.mark.flash
def test_reading_a_torn_file_names_it(storage: Storage) -> None:
    storage.create("torn.parquet", tables.encode(small(("a", 1)), SMALL, STAMP)[0][:-20])
    with pytest.raises(LakeError, match="torn"):
        tables.read(storage, ["torn.parquet"], SMALL)


@pytest.mark.flash
def test_histories_are_found_behind_a_nested_column(storage: Storage) -> None:
    schema = pa.schema([SCHEMA.field("items"), SCHEMA.field("history_id")])
    table = full([{"history_id": "h", "n": 1, "vector": [0, 0, 0], "items": [{"a": 1, "b": "zzz"}]}])
    tables.publish(storage, "t.parquet", table.select(schema.names), schema, STAMP)
    assert tables.read(storage, ["t.parquet"], schema, ["h"]).num_rows == 1


@pytest.mark.flash
def test_parts_are_read_back_and_are_no_part_of_the_mark(storage: Storage) -> None:
    with_parts = tables.publish(storage, "a.parquet", small(("a", 1)), SMALL, STAMP, '{"version":1}')
    without = tables.publish(storage, "b.parquet", small(("a", 1)), SMALL, STAMP)
    assert with_parts == without == tables.read_mark(storage, "a.parquet")
    assert tables.read_parts(storage, "a.parquet") == '{"version":1}'
    assert tables.read_parts(storage, "b.parquet") == tables.read_parts(storage, "missing.parquet") == ""

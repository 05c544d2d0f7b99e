"""A lazy frame over a table: what is committed, of whom it is asked, and no file that cannot hold it."""

from __future__ import annotations

import uuid
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from cluster import tables
from cluster.batches import claim, commit, void
from cluster.errors import LakeError, SchemaMismatch
from cluster.lake import Lake

SCHEMA = pa.schema(
    [
        pa.field("history_id", pa.large_string(), nullable=False),
        pa.field("place", pa.int64(), nullable=False),
        pa.field("note", pa.large_string()),
        pa.field("vector", pa.list_(pa.float16(), 2), nullable=False),
    ]
)
COLUMNS = pl.DataFrame(pl.from_arrow(SCHEMA.empty_table())).schema
HISTORIES = [f"h{number}" for number in range(12)]


@pytest.fixture(params=["local", "memory"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    return Lake.init(
        str(tmp_path / "lake") if request.param == "local" else f"memory://{uuid.uuid4().hex}/lake", buckets=4
    )


def write(lake: Lake, table: str, batch: str, rows: dict[str, int], choice: tuple[str, str] | None = None) -> list[str]:
    """Writes so many rows of each history, sorted; the paths."""
    paths = []
    buckets = lake.bucket_of(list(rows))
    for bucket in sorted(set(buckets.tolist())):
        names = [name for name, own in zip(rows, buckets, strict=True) if own == bucket for _ in range(rows[name])]
        names.sort()
        values = pa.array(np.arange(2 * len(names)) % 7, pa.float16())
        columns = {
            "history_id": pa.array(names, pa.large_string()),
            "place": pa.array(range(len(names)), pa.int64()),
            "note": pa.array([None if place % 3 else batch for place in range(len(names))], pa.large_string()),
            "vector": pa.FixedSizeListArray.from_arrays(values, 2),
        }
        paths.append(lake.path(table, bucket, batch, choice))
        tables.publish(lake.storage, paths[-1], pa.table(columns, SCHEMA), SCHEMA, "stamp")
    return paths


def arrived(lake: Lake, digest: str, rows: dict[str, int], choice: tuple[str, str] | None = None) -> list[str]:
    """A committed batch with these rows in the table `things`."""
    held = claim(lake, digest * 12)
    paths = write(lake, "things", held.name, rows, choice)
    commit(lake, held, sorted(set(lake.bucket_of(list(rows)).tolist())), {})
    return paths


def whole(lake: Lake, paths: list[str]) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(tables.read(lake.storage, paths, SCHEMA)))


def spoil(lake: Lake, path: str) -> None:
    lake.storage.replace(path, b"this is no Parquet")


@pytest.mark.flash
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    deliveries=st.lists(st.dictionaries(st.sampled_from(HISTORIES), st.integers(0, 5), min_size=1), max_size=4),
    asked=st.none() | st.lists(st.sampled_from([*HISTORIES, "nobody"]), max_size=4),
    local=st.booleans(),
)
def test_it_equals_a_full_read_filtered(tmp_path_factory, deliveries, asked, local) -> None:
    folder = tmp_path_factory.mktemp("lake") if local else f"memory://{uuid.uuid4().hex}/lake"
    lake = Lake.init(str(folder), buckets=3)
    paths = [path for seq, rows in enumerate(deliveries) for path in arrived(lake, f"{seq}", rows)]
    full = whole(lake, paths)
    expected = full if asked is None else full.filter(pl.col("history_id").is_in(asked))
    frame = lake.scan("things", histories=asked, schema=SCHEMA)
    assert_frame_equal(frame.collect(), expected)
    assert frame.select(pl.len()).collect().item() == expected.height
    some = frame.filter(pl.col("place") > 0).select("note", "place")
    assert_frame_equal(some.collect(), expected.filter(pl.col("place") > 0).select("note", "place"))
    assert_frame_equal(frame.head(3).collect(), expected.head(3))
    assert_frame_equal(
        frame.head(3).filter(pl.col("place") == 1).collect(), expected.head(3).filter(pl.col("place") == 1)
    )


@pytest.mark.flash
def test_files_of_other_buckets_are_not_opened(lake: Lake) -> None:
    paths = arrived(lake, "a", dict.fromkeys(HISTORIES, 2))
    expected = whole(lake, paths).filter(pl.col("history_id") == "h3")
    own = f"bucket=b{lake.bucket_of(['h3'])[0]:04d}"
    others = [path for path in paths if own not in path]
    assert len(others) == len(paths) - 1 > 0
    for path in others:
        spoil(lake, path)
    assert_frame_equal(lake.scan("things", histories=["h3"]).collect(), expected)
    with pytest.raises((pl.exceptions.ComputeError, LakeError)):
        lake.scan("things", schema=SCHEMA).collect()


@pytest.mark.flash
def test_row_groups_of_other_histories_are_not_read(tmp_path: Path) -> None:
    lake = Lake.init(str(tmp_path / "lake"), buckets=1)
    (path,) = arrived(lake, "a", {"early": 3 * tables.ROW_GROUP, "late": 5})
    expected = whole(lake, [path]).filter(pl.col("history_id") == "late")
    data = lake.storage.read_bytes(path)
    lake.storage.replace(path, data[:4] + b"\xff" * 400 + data[404:])
    assert_frame_equal(lake.scan("things", histories=["late"]).collect(), expected)
    with pytest.raises(pl.exceptions.PolarsError):
        lake.scan("things", histories=["early"]).collect()


@pytest.mark.flash
def test_an_ingest_that_is_under_way_or_was_dropped_is_not_seen(lake: Lake) -> None:
    paths = arrived(lake, "a", {"h1": 2})
    write(lake, "things", claim(lake, "b" * 12).name, {"h1": 3})
    assert_frame_equal(lake.scan("things", histories=["h1"]).collect(), whole(lake, paths))
    assert_frame_equal(lake.scan("things").collect(), whole(lake, paths))
    void(lake)
    assert_frame_equal(lake.scan("things").collect(), whole(lake, paths))


@pytest.mark.flash
def test_choices_are_kept_apart_and_a_missing_one_is_named_with_those_there_are(lake: Lake) -> None:
    for digest, name in (("a", "one"), ("b", "two")):
        arrived(lake, digest, {"h1": 2}, ("profile", name))
    assert lake.scan("things", profile="two").collect().height == 2
    for choice in ({}, {"profile": "three"}, {"model": "one"}):
        with pytest.raises(LakeError, match="profile='one', profile='two'"):
            lake.scan("things", **choice)
    with pytest.raises(LakeError, match="no table nothing; it has things"):
        lake.scan("nothing")
    with pytest.raises(LakeError, match="one choice"):
        lake.scan("things", profile="one", model="two")


@pytest.mark.flash
def test_an_empty_table_is_an_empty_frame_with_the_schema_that_was_given(lake: Lake) -> None:
    with pytest.raises(LakeError, match="no table things"):
        lake.scan("things")
    empty = lake.scan("things", histories=["h1"], schema=SCHEMA).collect()
    assert (empty.height, empty.schema) == (0, COLUMNS)
    arrived(lake, "a", {"h1": 1})
    elsewhere = next(name for name in HISTORIES if lake.bucket_of([name])[0] != lake.bucket_of(["h1"])[0])
    for asked in ([], [elsewhere]):
        of_others = lake.scan("things", histories=asked).collect()
        assert (of_others.height, of_others.schema) == (0, COLUMNS)


@pytest.mark.flash
def test_another_schema_is_refused(lake: Lake) -> None:
    first, *_ = arrived(lake, "a", {"h1": 1})
    narrow = pa.schema([SCHEMA.field("history_id"), pa.field("place", pa.int32(), nullable=False)])
    with pytest.raises(SchemaMismatch, match=r"place: found .*int64"):
        lake.scan("things", schema=narrow)
    later, *_ = arrived(lake, "b", {"h1": 1})
    table = pa.table({"history_id": ["h1"], "place": [0]}, narrow)
    lake.storage.replace(later, tables.encode(table, narrow, "stamp")[0])
    with pytest.raises((SchemaMismatch, pl.exceptions.PolarsError), match="place"):
        lake.scan("things", schema=SCHEMA).collect()
    spoil(lake, first)
    with pytest.raises(LakeError, match="no whole Parquet file"):
        lake.scan("things")


@pytest.mark.flash
def test_one_name_is_not_taken_for_a_list_of_letters(lake: Lake) -> None:
    with pytest.raises(TypeError, match=r"\['h1'\]"):
        lake.scan("things", histories="h1", schema=SCHEMA)

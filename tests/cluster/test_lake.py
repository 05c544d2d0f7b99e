"""A lake is made once, and says where everything lies, for ever the same."""

from __future__ import annotations

import pickle
import uuid
from pathlib import Path

import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import given
from hypothesis import strategies as st
from seaweed import Server

from cluster.errors import LakeError, NotALake
from cluster.lake import Lake
from cluster.storage import Storage


@pytest.fixture(params=["local", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "lake") if request.param == "local" else f"memory://{uuid.uuid4().hex}/lake"


@pytest.mark.flash
def test_a_lake_keeps_its_settings(url: str) -> None:
    Lake.init(url, buckets=4, tokenizer="other")
    Lake.init(url, buckets=4, tokenizer="other")
    lake = Lake.open(url)
    assert (lake.buckets, lake.tokenizer) == (4, "other")
    for settings in ({"buckets": 5, "tokenizer": "other"}, {"buckets": 4, "tokenizer": "o200k_base"}):
        with pytest.raises(LakeError, match="4 buckets"):
            Lake.init(url, **settings)
    assert pickle.loads(pickle.dumps(lake)).buckets == 4


@pytest.mark.s3
def test_a_lake_in_s3_keeps_its_settings(s3: Server) -> None:
    url = f"s3://{s3.put('lakes', {})}/{uuid.uuid4().hex}"
    Lake.init(url, buckets=4)
    Lake.init(url, buckets=4)
    assert Lake.open(url).buckets == 4
    with pytest.raises(LakeError, match="4 buckets"):
        Lake.init(url, buckets=5)
    assert [info.path for info in Lake.open(url).storage.list("")] == ["lake.json"]


@pytest.mark.flash
def test_no_lake_is_made_in_a_store_where_a_second_writer_overwrites_the_first(monkeypatch) -> None:
    url = f"memory://{uuid.uuid4().hex}/lake"
    write = MemoryFileSystem.pipe_file
    monkeypatch.setattr(MemoryFileSystem, "pipe_file", lambda fs, path, value, mode=None: write(fs, path, value))
    with pytest.raises(LakeError, match=r"the second one overwrites it there.*If-None-Match"):
        Lake.init(url)
    with pytest.raises(NotALake):
        Lake.open(url)


@pytest.mark.flash
def test_a_lake_that_is_there_is_not_written_to_by_init(url: str, monkeypatch) -> None:
    Lake.init(url, buckets=4)

    def written(storage: Storage, path: str, data: bytes) -> bool:
        raise AssertionError(path)

    monkeypatch.setattr(Storage, "create", written)
    assert Lake.init(url, buckets=4).buckets == 4
    with pytest.raises(LakeError, match="4 buckets"):
        Lake.init(url, buckets=5)


@pytest.mark.flash
def test_no_lake_and_a_lake_of_the_future_are_refused(url: str) -> None:
    with pytest.raises(NotALake, match="slatemill init"):
        Lake.open(url)
    lake = Lake.init(url)
    lake.storage.replace("lake.json", b'{"format": 99, "buckets": 16, "tokenizer": "o200k_base"}')
    with pytest.raises(LakeError, match="99"):
        Lake.open(url)


@pytest.mark.flash
@pytest.mark.parametrize("buckets", [0, -1, 100_000])
def test_a_lake_has_a_sane_number_of_buckets(url: str, buckets: int) -> None:
    with pytest.raises((LakeError, ValueError), match="buckets"):
        Lake.init(url, buckets=buckets)


@pytest.mark.flash
def test_buckets_are_golden(tmp_path: Path) -> None:
    lake = Lake.init(str(tmp_path))
    assert lake.bucket_of(["", "a", "conv-26", "e47becba", "ü", "用户"]).tolist() == [4, 15, 3, 0, 7, 14]
    assert lake.bucket_of([]).dtype == np.int64


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_a_bucket_depends_on_the_history_alone(names: list[str]) -> None:
    lake = Lake.init(f"memory://{uuid.uuid4().hex}", buckets=7)
    together = lake.bucket_of(names).tolist()
    assert together == [int(lake.bucket_of([name])[0]) for name in names]
    assert all(0 <= bucket < 7 for bucket in together)


@pytest.mark.flash
def test_histories_spread_evenly(tmp_path: Path) -> None:
    counts = np.bincount(Lake.init(str(tmp_path)).bucket_of([f"user-{k}" for k in range(16_000)]), minlength=16)
    assert counts.min() > 850
    assert counts.max() < 1150


@pytest.mark.flash
def test_paths_are_those_of_the_layout(url: str) -> None:
    lake = Lake.init(url)
    model = ("model", "all-MiniLM-L6-v2")
    assert lake.path("turns", 7, "000001-abc") == "turns/bucket=b0007/000001-abc.parquet"
    assert lake.path("turn_vectors", 7, "b", model) == "turn_vectors/model=all-MiniLM-L6-v2/bucket=b0007/b.parquet"
    assert lake.quarantine_path("ingest", 0, "b") == "quarantine/ingest/bucket=b0000/b.parquet"
    assert (
        lake.quarantine_path("pools", 0, "b", ("profile", "p")) == "quarantine/pools/profile=p/bucket=b0000/b.parquet"
    )


@pytest.mark.flash
@pytest.mark.parametrize("bad", ["", "a/b", "a b", "ä", "a=b"])
def test_a_choice_that_cannot_be_a_folder_is_refused(url: str, bad: str) -> None:
    with pytest.raises((LakeError, ValueError)):
        Lake.init(url).path("pools", 0, "b", ("profile", bad))


@pytest.mark.flash
def test_choices_are_those_that_have_files(url: str) -> None:
    lake = Lake.init(url)
    assert lake.choices("turn_vectors") == []
    for model in ("b", "a"):
        lake.storage.create(lake.path("turn_vectors", 1, "x", ("model", model)), b"1")
    lake.storage.create(lake.path("turns", 1, "x"), b"1")
    assert lake.choices("turn_vectors") == [("model", "a"), ("model", "b")]
    assert lake.choices("turns") == []


@pytest.mark.flash
@pytest.mark.parametrize(
    ("table", "bucket", "batch"), [("../x", 0, "b"), ("t", 16, "b"), ("t", -1, "b"), ("t", 0, "..")]
)
def test_nothing_lies_outside_the_lake_or_its_buckets(url: str, table: str, bucket: int, batch: str) -> None:
    with pytest.raises(LakeError):
        Lake.init(url).path(table, bucket, batch)


@pytest.mark.flash
def test_a_lake_by_a_relative_path_travels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    packed = pickle.dumps(Lake.init("lake"))
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert pickle.loads(packed).storage.exists("lake.json")

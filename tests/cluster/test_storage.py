"""Files appear whole or not at all, once or in one step: locally, and on any filesystem of fsspec."""

from __future__ import annotations

import errno
import os
import pickle
import signal
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import fsspec
import pytest
from races import raced
from seaweed import Server

from cluster.errors import LakeError
from cluster.storage import Storage


@pytest.fixture(params=["local", "memory"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    return Storage(str(tmp_path / "lake") if request.param == "local" else f"memory://{uuid.uuid4().hex}/lake")


@pytest.mark.flash
def test_a_file_is_created_once_and_replaced_as_a_whole(storage: Storage) -> None:
    assert storage.info("a/b.json") is None
    assert not storage.exists("a/b.json")
    assert storage.create("a/b.json", b"one")
    assert not storage.create("a/b.json", b"two")
    assert storage.read_bytes("a/b.json") == b"one"
    storage.replace("a/b.json", b"three")
    with storage.open_input("a/b.json") as stream:
        stream.seek(2)
        assert stream.read() == b"ree"


@pytest.mark.flash
def test_what_a_stream_holds_is_written_whole_wherever_the_stream_stands(storage: Storage, tmp_path: Path) -> None:
    content = bytes(range(256)) * 10_000
    with (tmp_path / "content").open("w+b") as stream:
        stream.write(content)
        assert storage.create("a", stream)
        assert not storage.create("a", stream)
        storage.replace("b", stream)
    assert storage.read_bytes("a") == storage.read_bytes("b") == content


@pytest.mark.flash
def test_the_version_changes_with_the_bytes(storage: Storage) -> None:
    versions = []
    for content in (b"1", b"2", b"3"):
        storage.replace("a", content)
        info = storage.info("a")
        assert info is not None
        assert info.size == 1
        versions.append(info.version)
        time.sleep(0.002)
    assert len(set(versions)) == 3


@pytest.mark.flash
def test_a_listing_is_recursive_sorted_and_of_whole_folders(storage: Storage) -> None:
    for path in ("t/x=1/b.parquet", "t/a.parquet", "t/note.json", "t2/a.parquet"):
        storage.create(path, b"12")
    assert [(info.path, info.size) for info in storage.list("t", ".parquet")] == [
        ("t/a.parquet", 2),
        ("t/x=1/b.parquet", 2),
    ]
    assert len(storage.list("")) == 4
    assert list(storage.list("missing")) == []
    info = storage.info("t/a.parquet")
    assert info is not None
    assert storage.list("t")[0][:2] == info[:2]


@pytest.mark.flash
def test_deleting_twice_is_no_error_and_reading_what_is_gone_is(storage: Storage) -> None:
    storage.create("a", b"1")
    storage.delete("a")
    storage.delete("a")
    assert not storage.exists("a")
    with pytest.raises(FileNotFoundError):
        storage.read_bytes("a")


@pytest.mark.flash
def test_a_pickled_storage_reaches_the_same_files(storage: Storage) -> None:
    storage.create("a", b"1")
    assert pickle.loads(pickle.dumps(storage)).read_bytes("a") == b"1"


@pytest.mark.flash
def test_an_unfinished_file_is_in_no_listing_and_no_glob(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = Storage(str(tmp_path))
    seen: list[list[str]] = []

    def look(*_: object) -> None:
        assert any(tmp_path.joinpath("t").iterdir())
        seen.append([*map(str, tmp_path.rglob("*.parquet")), *(info.path for info in storage.list(""))])
        raise RuntimeError("stopped before the link")

    monkeypatch.setattr(os, "link", look)
    with pytest.raises(RuntimeError):
        storage.create("t/a.parquet", b"1")
    assert seen == [[]]
    assert list(tmp_path.joinpath("t").iterdir()) == []


def of_eight_threads_one_creates(storage: Storage, rounds: int) -> None:
    payloads = [bytes([writer]) * 50_000 for writer in range(8)]
    with ThreadPoolExecutor(8) as threads:
        for name in map(str, range(rounds)):
            won = list(threads.map(partial(storage.create, name), payloads))
            assert won.count(True) == 1
            assert storage.read_bytes(name) == payloads[won.index(True)]


def test_of_eight_racing_threads_exactly_one_creates(tmp_path: Path) -> None:
    of_eight_threads_one_creates(Storage(str(tmp_path)), rounds=25)


@pytest.mark.s3
def test_of_eight_racing_threads_exactly_one_creates_in_s3(s3: Server) -> None:
    of_eight_threads_one_creates(Storage(f"s3://{s3.put('lakes', {})}/{uuid.uuid4().hex}"), rounds=5)


RACER = """
import sys, time
from cluster.storage import Storage
storage, me, start = Storage(sys.argv[1]), sys.argv[2], float(sys.argv[3])
time.sleep(max(0.0, start - time.time()))
print("".join("1" if storage.create(f"f{k}", me.encode() * 20000) else "0" for k in range(40)))
"""


def test_of_eight_racing_processes_exactly_one_creates_each_file(tmp_path: Path) -> None:
    wins = [told.strip() for told in raced(RACER, tmp_path, racers=8)]
    for k in range(40):
        winners = [me for me in range(8) if wins[me][k] == "1"]
        assert len(winners) == 1
        assert (tmp_path / f"f{k}").read_bytes() == str(winners[0]).encode() * 20000


WRITER = """
import itertools, sys
from cluster.storage import Storage
storage = Storage(sys.argv[1])
for k in itertools.count():
    storage.create(f"t/{k}.parquet", b"x" * 3_000_000)
    storage.replace("t/same.parquet", bytes([k % 250]) * 3_000_000)
    print(k, flush=True)
"""


def test_a_writer_that_is_killed_leaves_only_whole_files(tmp_path: Path) -> None:
    for delay in (0.0, 0.013, 0.031, 0.07):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.wait(timeout=30)
        writer.stdout.close()
        storage = Storage(str(tmp_path))
        files = storage.list("t")
        assert files
        assert all(info.size == 3_000_000 for info in files)
        assert len(set(storage.read_bytes("t/same.parquet"))) == 1


@pytest.mark.flash
def test_memory_is_reached_through_fsspec() -> None:
    name = uuid.uuid4().hex
    Storage(f"memory://{name}").create("a", b"1")
    assert fsspec.filesystem("memory").cat_file(f"/{name}/a") == b"1"


@pytest.mark.flash
def test_a_suffix_may_name_the_last_folder_too(storage: Storage) -> None:
    storage.create("runs/r1/run.parquet", b"1")
    storage.create("runs/r1/overrun.parquet", b"1")
    assert [info.path for info in storage.list("runs", "/run.parquet")] == ["runs/r1/run.parquet"]


@pytest.mark.flash
def test_a_relative_root_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    packed = pickle.dumps(Storage("lake"))
    Storage("lake").create("a", b"1")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert pickle.loads(packed).read_bytes("a") == b"1"


@pytest.mark.flash
def test_a_disk_without_hard_links_is_refused_in_words_and_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(source: str, target: str) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(LakeError, match="no hard links"):
        Storage(str(tmp_path)).create("t/a.parquet", b"x")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []

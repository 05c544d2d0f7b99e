"""The cache remembers one version of a file, and whatever is wrong with it is no error."""

from __future__ import annotations

import pickle
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cluster.cache import MarkCache


@pytest.fixture(autouse=True)
def cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "slatemill"


@pytest.mark.flash
def test_a_value_is_kept_for_one_version_in_the_users_folder(cache_home: Path) -> None:
    MarkCache().put("/lake/a", 3, "v1", {"rows": 1})
    cache = MarkCache()
    assert cache.get("/lake/a", 3, "v1") == {"rows": 1}
    assert cache.get("/lake/a", 4, "v1") is None
    assert cache.get("/lake/a", 3, "v2") is None
    assert list(cache_home.iterdir())
    cache.put("/lake/a", 3, "v2", "new")
    assert cache.get("/lake/a", 3, "v1") is None
    assert cache.get("/lake/a", 3, "v2") == "new"


@pytest.mark.flash
def test_a_cache_that_is_no_database_only_forgets(cache_home: Path) -> None:
    MarkCache().put("a", 1, "v", 1)
    for file in cache_home.iterdir():
        file.write_bytes(b"this is no database" * 100)
    cache = MarkCache()
    cache.put("a", 1, "v", 1)
    assert cache.get("a", 1, "v") in (None, 1)


@pytest.mark.flash
def test_a_folder_that_cannot_be_made_only_forgets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    cache = MarkCache()
    cache.put("a", 1, "v", 1)
    assert cache.get("a", 1, "v") is None


PUTTER = """
import sys
from cluster.cache import MarkCache
cache, me = MarkCache(), sys.argv[1]
for k in range(200):
    cache.put(f"{me}/{k}", k, "v", k)
print(sum(cache.get(f"{me}/{k}", k, "v") == k for k in range(200)))
"""


def test_several_processes_share_it() -> None:
    putters = [
        subprocess.Popen([sys.executable, "-c", PUTTER, str(me)], stdout=subprocess.PIPE, text=True) for me in range(4)
    ]
    assert [putter.communicate(timeout=120)[0].strip() for putter in putters] == ["200"] * 4
    cache = MarkCache()
    assert all(cache.get(f"{me}/7", 7, "v") == 7 for me in range(4))


@pytest.mark.flash
def test_threads_share_it_and_it_travels_to_workers() -> None:
    cache = MarkCache()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda k: cache.put(str(k), k, "v", k), range(40)))
        assert list(threads.map(lambda k: cache.get(str(k), k, "v"), range(40))) == list(range(40))
    assert pickle.loads(pickle.dumps(cache)).get("3", 3, "v") == 3


@pytest.mark.flash
def test_a_rotten_value_only_forgets(cache_home: Path) -> None:
    cache = MarkCache()
    cache.put("a", 1, "v", 1)
    with sqlite3.connect(next(file for file in cache_home.iterdir() if file.suffix == ".sqlite")) as direct:
        direct.execute("UPDATE files SET value = '{'")
    assert cache.get("a", 1, "v") is None

"""One Ray for all tests of the executor, and a lake of toy tables for each."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray

sys.path.insert(0, str(Path(__file__).parent))

import toy_stages

from cluster import rayenv
from cluster.lake import Lake


@pytest.fixture(scope="session")
def local_ray() -> Iterator[None]:
    """A Ray with two workers that `execute` finds running and leaves running."""
    ray.cloudpickle.register_pickle_by_value(toy_stages)
    with rayenv.session(workers=2):
        yield


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def toy_lake(tmp_path: Path) -> Lake:
    """Two batches over three buckets, the second one touching two of them."""
    return toy_stages.lake(tmp_path / "lake", [(0, 1, 2), (0, 2)])

"""One small labelled lake for all tests of a training, with features made, and a Ray that they share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from inside import LEXICAL, stored

from cluster import rayenv
from cluster.lake import Lake
from jobs.config import Profile
from jobs.overrides import override
from pipeline.synth.histories import history

HISTORIES = 14


@pytest.fixture(scope="session")
def tight() -> Profile:
    """lexical, with budgets so small that slates of a short history are not all complete."""
    return override(LEXICAL, "100,300", None)


@pytest.fixture(scope="session")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake of HISTORIES generated histories of one request each."""
    return stored(
        tmp_path_factory.mktemp("labelled"), [history(seed=3, index=index, sessions=6) for index in range(HISTORIES)]
    )


@pytest.fixture(scope="session")
def shared_ray() -> Iterator[None]:
    with rayenv.session(workers=2):
        yield


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """MLflow's store and the caches in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path

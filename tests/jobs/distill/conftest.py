"""One small labelled lake for all tests of a distillation, with its features made, and a Ray that they share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from inside import LEXICAL, stored

from cluster import rayenv
from cluster.lake import Lake
from jobs.config import Profile
from jobs.overrides import override
from jobs.run import Resources
from jobs.train.features import make_features
from pipeline.schemas import LABELS, TEACHER_SCORES
from pipeline.synth.histories import history

HISTORIES = 14


@pytest.fixture(scope="session")
def tight() -> Profile:
    """lexical, with budgets so small that slates of a short history are not all complete."""
    return override(LEXICAL, "100,300", None)


@pytest.fixture(scope="session")
def shared_ray() -> Iterator[None]:
    with rayenv.session(workers=2):
        yield


@pytest.fixture(scope="session")
def labelled(tight: Profile, shared_ray: None, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake of HISTORIES generated histories of one request each, with features."""
    items = [history(seed=3, index=index, sessions=6) for index in range(HISTORIES)]
    lake = stored(tmp_path_factory.mktemp("labelled"), items)
    make_features(lake, tight, Resources(workers=2))
    return lake


@pytest.fixture(scope="session")
def rated(labelled: Lake) -> pl.DataFrame:
    """A teacher's scores of every candidate (TEACHER_SCORES): gold and noise, whose AUC is about .9."""
    key = LABELS.names
    gold = labelled.scan("labels").select(key).unique().with_columns(gold=pl.lit(1.8))
    rows = labelled.scan("features", profile="lexical").select(*key, "pool_position").join(gold, on=key, how="left")
    sorted_rows = rows.collect().sort(*key[:2], "pool_position")
    noise = np.random.default_rng(0).normal(size=sorted_rows.height)
    score = np.clip(4 + 2 * (noise + sorted_rows["gold"].fill_null(0).to_numpy()), 0, 10)
    return sorted_rows.select(
        *key, score=pl.Series(score, dtype=pl.Float32), status=pl.lit("ok"), reason=pl.lit(""),
        from_logprobs=pl.lit(value=True),
    ).select(TEACHER_SCORES.names)  # fmt: skip


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """MLflow's store and the caches in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path

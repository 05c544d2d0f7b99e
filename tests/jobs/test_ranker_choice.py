"""Named before champion before the one that comes along; and that only where it suits."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from jobs import ranker_choice
from jobs.config import Profile, load_profile
from jobs.ranker_choice import ranker_for
from models.ranker import RankerError
from models.shipped import shipped

pytestmark = pytest.mark.flash

DEFAULT = load_profile("default")


@pytest.fixture
def no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv("MLFLOW_REGISTRY_URI", raising=False)
    return tmp_path


def changed(**parts: object) -> Profile:
    return Profile.model_validate({**DEFAULT.model_dump(mode="json"), **parts})


def of_recall(**parts: object) -> Profile:
    return changed(recall={**DEFAULT.recall.model_dump(mode="json"), **parts})


def test_without_a_champion_the_ranker_that_comes_along_is_taken(no_store):
    ranker, source = ranker_for(DEFAULT, None)
    assert source == "shipped/default"
    assert ranker.identity == ranker_for(DEFAULT, source)[0].identity
    assert list(no_store.iterdir()) == [], "no store is made by asking"


def test_what_is_named_comes_first_then_the_champion(no_store, monkeypatch):
    own = replace(shipped("shipped/default"), profile="own")
    own.save(no_store / "own")
    assert ranker_for(DEFAULT, str(no_store / "own"))[0].profile == "own"
    monkeypatch.setattr(ranker_choice, "load_ranker", lambda named, profile: (own, f"slatemill-{profile} version 1"))
    assert ranker_for(DEFAULT, None) == (own, "slatemill-default version 1")


@pytest.mark.parametrize(
    "profile",
    [
        changed(name="mine"),
        changed(slates={"policies": ["lambdarank"], "budgets": [60], "style": "dated"}),
        of_recall(pool_size=64),
        changed(features=[*DEFAULT.features[::-1], "late_weakest_gap"]),
        changed(late_interaction={**DEFAULT.late_interaction.model_dump(mode="json"), "source": "on_the_fly"}),
    ],
    ids=["name", "slates", "pool", "more features, in other order", "codes on the fly"],
)
def test_a_profile_that_scores_candidates_alike_gets_it_too(no_store, profile):
    assert ranker_for(profile, None)[1] == "shipped/default"


@pytest.mark.parametrize(
    "profile",
    [
        changed(embedder={"model": "BAAI/bge-m3"}),
        changed(late_interaction={"model": "BAAI/bge-m3"}),
        of_recall(weights={}),
        changed(features=[name for name in DEFAULT.features if name != "late_interaction_score"]),
        load_profile("lexical"),
        load_profile("agentmemrec"),
        load_profile("tuned"),
    ],
    ids=["embedder", "late interaction", "weights", "a feature less", "lexical", "agentmemrec", "tuned"],
)
def test_a_profile_that_scores_otherwise_or_lacks_a_feature_gets_none(no_store, profile):
    assert ranker_for(profile, None) is None


@pytest.mark.parametrize(
    "profile", [changed(embedder={"model": "all-MiniLM-L6-v2", "max_tokens": 64}), of_recall(weights={})]
)
def test_by_name_it_is_refused_where_candidates_are_scored_otherwise(no_store, profile):
    with pytest.raises(RankerError, match="has other channels, weights or models"):
        ranker_for(profile, "shipped/default")


def test_taking_it_loads_neither_mlflow_nor_lightgbm(no_store):
    question = (
        "import sys; from jobs.config import load_profile; from jobs.ranker_choice import ranker_for; "
        "print(ranker_for(load_profile('default'), None)[1], {'mlflow', 'lightgbm', 'torch'} & set(sys.modules))"
    )
    said = subprocess.run(
        [sys.executable, "-c", question], env=dict(os.environ), check=True, capture_output=True, text=True, timeout=60
    ).stdout
    assert said.strip() == "shipped/default set()"

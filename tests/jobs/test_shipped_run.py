"""Out of the box: a run of the default profile where no MLflow store is, with the ranker that comes with slatemill."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest
from inside import delivered, said_by_main

from cluster.lake import Lake
from jobs.evaluate import evaluate
from models.shipped import shipped
from pipeline.synth.histories import history

pytestmark = pytest.mark.cluster

ITEMS = [history(seed=1, index=index, sessions=3) for index in range(2)]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bare")
    delivered(Lake.init(str(folder / "lake"), buckets=1), folder / "items.json", ITEMS)
    return folder


@pytest.fixture
def say(place, monkeypatch, capsys):
    """The command line in a folder without a store."""
    monkeypatch.chdir(place)
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI"):
        monkeypatch.delenv(name, raising=False)
    return lambda *words: said_by_main(monkeypatch, capsys, *words)


def test_a_run_takes_it_a_second_does_nothing_and_show_evaluate_and_status_know_it(place, say):
    code, out, err = say("run", "lake", "--workers", "2", "--json")
    assert (code, json.loads(out)["failures"]) == (0, [])
    assert "ranker: shipped/default, comes with slatemill" in err
    slates = pl.read_parquet(f"{place}/lake/slates/*/*/*.parquet", hive_partitioning=False)
    assert "lambdarank" in slates["policy"].to_list()

    loaded = {name for name in ("mlflow", "lightgbm") if name in sys.modules}
    code, out, _ = say("run", "lake", "--workers", "2", "--json")
    assert (code, {stage["done"] for stage in json.loads(out)["stages"]}) == (0, {0})
    assert {name for name in ("mlflow", "lightgbm") if name in sys.modules} == loaded

    code, out, err = say("show", "lake", ITEMS[0]["question_id"], "--policy", "lambdarank", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["notes"] == [], "it can be loaded"
    assert all(turn["contributions"] for turn in json.loads(out)["slate"]["turns"])
    assert say("status", "lake")[0] == 0
    assert sorted(path.name for path in place.iterdir()) == ["items.json", "lake"], "no store was made"

    measured, about = evaluate(Lake.open(f"{place}/lake"), "default", None, draws=100, seed=0)
    ranker = shipped("shipped/default")
    assert (about["ranker"], about["ranker_source"]) == (ranker.identity, "shipped/default")
    assert measured.left_out_trained_on == 0, "it has seen none of a user's histories"


def test_its_card_is_shown(say):
    code, out, err = say("models", "card", "shipped/default", "--json")
    told = json.loads(out)
    assert (code, told["source"], err) == (0, "shipped/default", "")
    assert "generated histories alone" in told["card"]

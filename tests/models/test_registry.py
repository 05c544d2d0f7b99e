"""Rankers in a real MLflow: SQLite in a folder, and a server of its own process."""

from __future__ import annotations

import os
import pickletools
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models import registry
from models.ranker import LightGBMRanker, RankerError, fit
from models.ranker_params import RankerParams
from models.registry import RankerNotFound, challenger_and_champion, load_ranker, log_evaluation, log_training

NAMES = ("a", "b")
PROFILE = "agentmemrec"
NAME = f"slatemill-{PROFILE}"


def small_ranker(seed: int) -> LightGBMRanker:
    rng = np.random.default_rng(seed)
    relevance = np.tile([1, 0, 0, 0], 20)
    matrix = np.column_stack([relevance + rng.normal(size=80), rng.normal(size=80)]).astype(np.float32)
    params = RankerParams(trees=3, min_data_in_leaf=2)
    return fit(matrix, relevance, np.full(20, 4), NAMES, params, seen_histories=["h1"], profile=PROFILE)


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An MLflow database without content: making one takes seconds, so it is made once."""
    from models.tracking import client

    folder = tmp_path_factory.mktemp("mlflow")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{folder}/mlflow.db")
        client().search_experiments()
    return (folder / "mlflow.db").read_bytes()


@pytest.fixture
def store(elsewhere: Path, empty_database: bytes) -> Path:
    """A working folder with MLflow's default store in it."""
    (elsewhere / "mlflow.db").write_bytes(empty_database)
    return elsewhere


def identity_of(spec: str | None) -> str:
    found = load_ranker(spec, PROFILE)
    assert found is not None
    return found[0].identity


@pytest.mark.flash
def test_asking_for_a_champion_makes_no_store_and_loads_no_mlflow(tmp_path: Path) -> None:
    question = (
        "import sys; from models.registry import load_ranker; "
        "print(load_ranker(None, 'agentmemrec'), {'mlflow', 'lightgbm', 'torch'} & set(sys.modules))"
    )
    for uri in ({}, {"MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path}/other.db"}):
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")}
        answer = subprocess.run(
            [sys.executable, "-c", question],
            cwd=tmp_path,
            env={**inherited, **uri},
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout
        assert answer.strip() == "None set()"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.flash
def test_a_folder_is_loaded_without_a_store(elsewhere: Path) -> None:
    ranker = small_ranker(0)
    ranker.save(elsewhere / "out")
    found = load_ranker(str(elsewhere / "out"), PROFILE)
    assert found is not None
    assert found[0].identity == ranker.identity
    assert sorted(path.name for path in elsewhere.iterdir()) == ["out"]


@pytest.mark.flash
@pytest.mark.parametrize("spec", ["./nowhere", "a b@", "s3://bucket/ranker", "slatemill-agentmemrec"])
def test_what_names_nothing_is_an_error_that_says_what_would_do(elsewhere: Path, spec: str) -> None:
    with pytest.raises(RankerNotFound, match=r"no such folder, and it is no NAME|no MLflow store here"):
        load_ranker(spec, PROFILE)
    assert list(elsewhere.iterdir()) == []


def test_the_first_training_makes_the_champion_and_later_ones_do_not(store: Path) -> None:
    first, second = small_ranker(1), small_ranker(2)
    made = [log_training(ranker, {"holdout": 0.2}, {"train_auc": 0.9}, PROFILE) for ranker in (first, second)]
    assert [(version.name, version.version, version.is_champion) for version in made] == [
        (NAME, "1", True),
        (NAME, "2", False),
    ]
    assert identity_of(None) == first.identity
    for spec in (NAME, f"{NAME}@champion", f"{NAME}/1", f"models:/{NAME}/1", f"models:/{NAME}@champion"):
        assert identity_of(spec) == first.identity, spec
    for spec in (f"{NAME}/2", f"{NAME}/latest", f"models:/{NAME}/latest"):
        assert identity_of(spec) == second.identity, spec
    assert load_ranker(None, "another") is None
    with pytest.raises(RankerNotFound, match=r"versions 1, 2 and the aliases champion"):
        load_ranker(f"{NAME}/7", PROFILE)
    with pytest.raises(RankerNotFound, match=r"versions 1, 2 and the aliases champion"):
        load_ranker(f"{NAME}@best", PROFILE)
    with pytest.raises(RankerNotFound, match=r"the rankers there are: slatemill-agentmemrec"):
        load_ranker("slatemill-lexical", PROFILE)


def test_what_is_logged_is_text_with_params_metrics_and_importances(store: Path) -> None:
    from models.tracking import client

    ranker = small_ranker(1)
    version = log_training(ranker, {"trees": 3, "holdout": 0.2}, {"holdout_auc": 0.75, "x": float("nan")}, PROFILE)
    run = client().get_run(version.run_id)
    assert run.info.status == "FINISHED"
    assert run.data.params == {"profile": PROFILE, "ranker": ranker.identity, "trees": "3", "holdout": "0.2"}
    assert run.data.metrics["holdout_auc"] == 0.75
    assert run.data.metrics["importance_gain/a"] == pytest.approx(ranker.importances()["gain"]["a"])
    assert "x" not in run.data.metrics
    files = sorted(path for path in (store / "mlruns").rglob("*") if path.is_file())
    assert [path.name for path in files] == ["importances.json", "model.txt", "ranker.json"]
    for path in files:
        path.read_text(encoding="utf-8")
        with pytest.raises(ValueError):
            list(pickletools.genops(path.read_bytes()))
    found = load_ranker(None, PROFILE)
    assert found is not None
    assert found[0].metrics == {"holdout_auc": 0.75}
    assert found[1] == f"{NAME} version 1"


def test_a_challenger_is_found_by_every_way_to_name_it_with_the_champion_of_its_model(store: Path) -> None:
    first, second = small_ranker(1), small_ranker(2)
    for ranker in (first, second):
        log_training(ranker, {}, {}, PROFILE)
    for spec in (NAME, f"{NAME}/2", f"{NAME}/latest", f"models:/{NAME}/2"):
        chosen, champion = challenger_and_champion(spec)
        assert (chosen.version, chosen.ranker.identity) == ("2", second.identity), spec
        assert champion is not None
        assert (champion.version, champion.ranker.identity) == ("1", first.identity), spec
    chosen, champion = challenger_and_champion(f"{NAME}@champion")
    assert champion is not None
    assert chosen.version == champion.version == "1"
    with pytest.raises(RankerNotFound, match=r"versions 1, 2"):
        challenger_and_champion(f"{NAME}/7")


def test_further_texts_plots_and_the_card_lie_beside_the_ranker(store: Path) -> None:
    plots = store / "drawn"
    plots.mkdir()
    (plots / "gain.png").write_bytes(b"PNG")
    ranker = replace(small_ranker(1), card="# Card\n")
    log_training(ranker, {}, {}, PROFILE, {"training.json": "{}"}, plots)
    kept = {path.name: path for path in (store / "mlruns").rglob("*") if path.is_file()}
    assert {"training.json", "gain.png", "card.md", "model.txt"} <= set(kept)
    assert kept["card.md"].parent == kept["model.txt"].parent
    found = load_ranker(NAME, PROFILE)
    assert found is not None
    assert found[0].card == "# Card\n"


def test_a_champion_is_remembered_until_the_database_changes(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = small_ranker(1), small_ranker(2)
    for ranker in (first, second):
        log_training(ranker, {}, {}, PROFILE)
    assert identity_of(None) == first.identity
    make_client = registry.client
    monkeypatch.setattr(registry, "client", lambda: pytest.fail("MLflow was asked again"))
    assert identity_of(None) == first.identity
    make_client().set_registered_model_alias(NAME, "champion", "2")
    monkeypatch.setattr(registry, "client", make_client)
    assert identity_of(None) == second.identity


def test_an_artifact_that_was_changed_is_refused(store: Path) -> None:
    log_training(small_ranker(1), {}, {}, PROFILE)
    [model] = (store / "mlruns").rglob("model.txt")
    small_ranker(2).save(model.parent)
    with pytest.raises(RankerError, match="not the ranker that was registered"):
        load_ranker(NAME, PROFILE)


def test_an_artifact_that_is_gone_is_named_as_such(store: Path) -> None:
    log_training(small_ranker(1), {}, {}, PROFILE)
    shutil.rmtree(store / "mlruns")
    with pytest.raises(RankerError, match=f"{NAME} version 1: its artifact .* is gone"):
        load_ranker(NAME, PROFILE)


def test_an_evaluation_is_logged_whole_in_batches_under_names_that_mlflow_takes(store: Path) -> None:
    from models.tracking import client

    metrics = {f"slate completeness/kappa >= 2/{number}": number / 2000 for number in range(1200)}
    params = {f"param {number}": number for number in range(130)}
    run_id = log_evaluation(metrics, params, {"report.json": "{}"}, experiment="held out")
    run = client().get_run(run_id)
    assert len(run.data.metrics) == 1200
    assert run.data.metrics["slate completeness/kappa ge 2/1000"] == 0.5
    assert len(run.data.params) == 130
    assert client().get_experiment(run.info.experiment_id).name == "held out"
    with pytest.raises(ValueError, match="two names are the same"):
        log_evaluation({"a<1": 0.0, "a>1": 1.0}, {}, {})


@pytest.mark.slow
def test_a_server_keeps_rankers_and_gives_them_back(
    server: str, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", server)
    assert load_ranker(None, PROFILE) is None
    ranker = small_ranker(1)
    version = log_training(ranker, {"holdout": 0.2}, {"train_auc": 0.9}, PROFILE)
    assert version.is_champion
    assert [identity_of(spec) for spec in (None, NAME, f"{NAME}/1")] == [ranker.identity] * 3
    assert log_evaluation({"r_pool": 0.8}, {}, {"report.json": "{}"})
    assert not (elsewhere / "mlflow.db").exists()
    assert not (elsewhere / "mlruns").exists()
    assert capfd.readouterr().out == ""

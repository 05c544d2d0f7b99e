"""A whole training on a small lake: one input gives one ranker, and what is known of it is told and kept."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import polars as pl
import pytest
from inside import ran, stored
from rich.console import Console

from cluster.lake import Lake
from jobs.run import Resources
from jobs.train.data import NothingToLearn, held_out
from jobs.train.job import TrainReport, Wanted, train
from jobs.train.judge import RECALL
from jobs.train.report import show_training
from models.ranker import LightGBMRanker
from models.ranker_params import PRESETS
from models.registry import client
from pipeline.synth.histories import history

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("shared_ray", "own_store")]


@pytest.fixture(scope="module")
def everything(labelled, tight, shared_ray, tmp_path_factory) -> tuple[TrainReport, Path]:
    """A training with all that there is, and the folder of its MLflow store and ranker."""
    folder = tmp_path_factory.mktemp("everything")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{folder}/mlflow.db")
        wanted = Wanted(holdout=0.2, folds=3, ablate=True, curve=True, out=folder / "ranker")
        yield train(labelled, tight, Resources(workers=2), wanted), folder


def test_the_same_data_give_the_same_ranker_bit_for_bit_on_one_worker_and_two_and_ingested_in_another_order(
    labelled, tight, tmp_path
):
    first = train(labelled, tight, Resources(workers=1))
    items = [history(seed=3, index=index, sessions=6) for index in reversed(range(14))]
    again = train(stored(tmp_path, items), tight, Resources(workers=2))
    assert first.ranker.model_text == again.ranker.model_text
    assert first.ranker.identity == again.ranker.identity
    assert first.digest == again.digest
    assert first.metrics == again.metrics
    assert (first.version.is_champion, again.version.is_champion) == (True, False)


def test_the_trees_are_as_many_as_the_folds_found_best(everything):
    trained, _ = everything
    crossval = trained.validated.crossval
    best = [fold.best_trees for fold in crossval.folds]
    assert trained.ranker.params.trees == crossval.trees == max(1, round(sum(best) / len(best)))
    assert trained.ranker.model_text.count("\nTree=") == crossval.trees
    assert trained.ranker.params.num_leaves == 7


def test_numbers_out_of_fold_are_of_the_histories_that_are_not_held_out(everything, labelled):
    trained, _ = everything
    histories = labelled.scan("labels").select("history_id").unique().collect().to_arrow()["history_id"]
    held = held_out(histories, 0.2).to_pylist()
    learned = {name for name, out in zip(histories.to_pylist(), held, strict=True) if not out}
    assert 0 < len(learned) < len(histories)
    assert set(trained.ranker.seen_histories) <= learned
    rows = trained.validated.crossval.rows
    assert {row.n_histories for row in rows if row.stratum == "all"} == {len(learned)}
    assert {row.policy for row in rows} == {"ranker", RECALL}
    assert sum(fold.n_groups for fold in trained.validated.crossval.folds) == trained.counts["groups"]
    assert len(trained.validated.scores) == trained.counts["rows"]


def test_the_ranker_it_saved_has_its_card_and_numbers(everything):
    trained, folder = everything
    saved = LightGBMRanker.load(folder / "ranker")
    assert saved.identity == trained.ranker.identity
    card = (folder / "ranker" / "card.md").read_text(encoding="utf-8")
    assert saved.card == card
    said = (trained.digest, trained.ranker.identity, f"{trained.counts['histories']:,} histories", "slatemill 0")
    assert all(text in card for text in said)
    complete = next(row for row in trained.validated.crossval.rows if row.policy == "ranker")
    assert complete.slate_completeness.text(interval=True) in card
    assert all(f"## {part}" in card for part in ("Learned from", "How well it does", "Intended use", "Limits"))
    assert saved.metrics["cv_ndcg_10"] == trained.validated.crossval.ndcg_10.value


def test_mlflow_has_the_plots_the_card_the_numbers_and_what_they_were_made_of(everything, monkeypatch):
    trained, folder = everything
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{folder}/mlflow.db")
    run = client().get_run(trained.version.run_id)
    assert run.data.params["data_digest"] == trained.digest
    assert run.data.params["size"] == "small"
    assert "cv_all/ranker/100/slate_completeness" in run.data.metrics
    files = {path.name: path for path in (folder / "mlruns").rglob("*") if path.is_file()}
    assert {"card.md", "training.json", "gain.png", "shap.png", "ablation.png", "curve.png"} <= set(files)
    for name in ("gain.png", "shap.png", "ablation.png", "curve.png"):
        width, height = struct.unpack(">II", files[name].read_bytes()[16:24])
        assert 900 < width < 1200, name
        assert 200 < height < 1200, name


def test_an_ablation_and_a_curve_stand_beside_the_ranker_that_they_are_compared_with(everything):
    trained, _ = everything
    ablation, curve = trained.validated.ablation, trained.validated.curve
    assert ablation[0].name == curve[-1].name == "ranker"
    names = {found.name for found in ablation}
    assert {"without turn", "only turn", "only bm25"} <= names
    assert not any("cross_encoder" in name for name in names), "nothing was known by it"
    for found in ablation[1:]:
        assert found.at(100, "all").n == ablation[0].at(100, "all").n
        assert found.at(100, "all").difference.low is not None
    assert [round(found.n_histories) for found in curve] == sorted(round(found.n_histories) for found in curve)


def test_everything_is_told_within_eighty_columns_and_as_json(everything):
    trained, _ = everything
    out = io.StringIO()
    show_training(trained, Console(file=out, width=80))
    said = out.getvalue()
    assert all(len(line) <= 80 for line in said.splitlines())
    assert "…" not in said
    words = ("out of fold", "difference", "smaller pools", "pool_size", "without turn", "learning curve", "champion")
    assert all(word in said for word in words)
    told = trained.as_dict()
    assert told["data_digest"] == trained.digest
    assert told["pool_size_advised"] in (16, 32, 64, 96, 128)
    assert len(told["ablation"]) == len(trained.validated.ablation)


def test_one_history_is_fitted_and_not_validated(tight, tmp_path):
    lake = stored(tmp_path, [history(seed=3, index=0, sessions=6)])
    trained = train(lake, tight, Resources(workers=1))
    assert trained.validated.crossval is None
    assert trained.ranker.params.trees == PRESETS["small"].trees
    assert "it was not cross-validated" in trained.ranker.card
    out = io.StringIO()
    show_training(trained, Console(file=out, width=80))
    assert "not cross-validated" in out.getvalue()


def test_a_lake_without_evidence_teaches_nothing(tight, tmp_path):
    with pytest.raises(NothingToLearn, match="ingest labelled"):
        train(Lake.init(str(tmp_path / "empty")), tight, Resources(workers=1))


def test_a_ranker_of_some_of_the_features_learns_from_those_and_slates_go_by_it(tight, tmp_path):
    lake = stored(tmp_path, [history(seed=3, index=index, sessions=6) for index in range(6)])
    few = ("n_tokens", "bm25_score")  # not in the profile's order
    chosen = tight.model_copy(update={"ranker": tight.ranker.model_copy(update={"features": few})})
    trained = train(lake, chosen, Resources(workers=1)).ranker
    assert trained.feature_names == few
    assert "2 features: n_tokens, bm25_score." in trained.card
    ran(lake, tight, trained)
    slates = pl.read_parquet(f"{lake.url}/slates/*/*/*.parquet", hive_partitioning=False)
    assert "lambdarank" in slates["policy"].to_list()

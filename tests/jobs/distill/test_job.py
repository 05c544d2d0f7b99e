"""A whole distillation on a small lake: from scores of a made-up teacher, and from those of a model that rates."""

from __future__ import annotations

import io
import sys
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from inside import ran
from ray import cloudpickle
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[2] / "helpers"))
import teachers

from cluster.stage import ModelSpec
from jobs.config import ConfigError
from jobs.distill.job import DistillReport, Wanted, distill
from jobs.distill.judging import GOLD
from jobs.distill.report import show_distillation
from jobs.run import Resources
from jobs.teacher_stages import Teacher
from jobs.train.data import NothingToLearn
from jobs.train.judge import RECALL
from models.ranker import LightGBMRanker
from models.registry import client

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("shared_ray", "own_store")]

BOTH = Resources(workers=2)


@pytest.fixture(scope="module")
def distilled(labelled, tight, rated, tmp_path_factory) -> tuple[DistillReport, Path]:
    """A distillation from handed-over scores, and the folder of its MLflow store and ranker."""
    folder = tmp_path_factory.mktemp("distilled")
    rated.write_parquet(folder / "scores.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{folder}/mlflow.db")
        wanted = Wanted(str(folder / "scores.parquet"), folds=3, out=folder / "ranker")
        yield distill(labelled, tight, BOTH, wanted), folder


def test_every_way_agrees_with_the_teacher_and_stands_beside_the_ranker_of_labels(distilled, rated):
    report, _ = distilled
    assert report.counts["rows"] == rated.height
    assert report.way == "doubtful"
    assert [each.name for each in report.validated.agreements] == [RECALL, "pointwise", "lambdarank", "doubtful"]
    assert all(each.ndcg_64.value > 0.3 for each in report.validated.agreements)
    rows = report.validated.rows
    assert {row.policy for row in rows} == {RECALL, "pointwise", "lambdarank", "doubtful", GOLD}
    assert report.validated.against == GOLD
    by_name = {row.policy: row for row in rows if (row.budget, row.stratum) == (300, "all")}
    assert len({row.n for row in by_name.values()}) == 1
    assert by_name["pointwise"].difference.value is not None


def test_the_same_scores_give_the_same_ranker_on_one_worker_and_two(labelled, tight, distilled):
    report, folder = distilled
    again = distill(labelled, tight, Resources(workers=1), Wanted(str(folder / "scores.parquet"), folds=3))
    assert again.ranker.model_text == report.ranker.model_text
    assert (again.way, again.digest) == (report.way, report.digest)


def test_labels_are_not_learned_from(labelled, tight, distilled, tmp_path, monkeypatch):
    report, folder = distilled
    monkeypatch.setattr("jobs.distill.judging.gather", lambda *_: _without_labels(labelled, tight))
    blind = distill(labelled, tight, BOTH, Wanted(str(folder / "scores.parquet"), folds=3))
    assert blind.ranker.model_text == report.ranker.model_text
    assert blind.validated.rows == ()
    out = io.StringIO()
    show_distillation(blind, Console(file=out, width=80))
    assert "completeness" not in out.getvalue()


def _without_labels(lake, profile):
    from jobs.train.data import gather

    features, labels = gather(lake, profile)
    return features.slice(0, 0), labels.slice(0, 0)


def test_a_run_takes_the_ranker_that_was_saved(labelled, tight, distilled):
    report, folder = distilled
    saved = LightGBMRanker.load(folder / "ranker")
    assert saved.identity == report.ranker.identity
    assert saved.seen_histories == tuple(sorted(labelled.scan("turns").collect()["history_id"].unique()))
    ran(labelled, tight, saved)
    slates = labelled.scan("slates", profile="lexical").collect()
    assert "lambdarank" in slates["policy"].to_list()


def test_mlflow_and_the_card_have_the_numbers(distilled, monkeypatch):
    report, folder = distilled
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{folder}/mlflow.db")
    run = client().get_run(report.version.run_id)
    assert run.info.run_name == "distill lexical"
    assert run.data.params["teacher"] == "scores handed over"
    names = (
        "cv_pointwise_kendall_tau",
        "cv_lambdarank_ndcg_64",
        "cv_doubtful_ndcg_64",
        "cv_all/gold/300/slate_completeness",
    )
    assert set(names) <= set(run.data.metrics)
    card = (folder / "ranker" / "card.md").read_text(encoding="utf-8")
    said = (report.digest, report.ranker.identity, "No label was read", "| doubtful |", "less gold")
    assert all(text in card for text in said)


def test_everything_is_told_within_eighty_columns_and_as_json(distilled):
    report, _ = distilled
    out = io.StringIO()
    show_distillation(report, Console(file=out, width=80))
    said = out.getvalue()
    assert all(len(line) <= 80 for line in said.splitlines())
    assert all(word in said for word in ("Kendall's tau", "nDCG@64", "difference to gold", f"kept: {report.way}"))
    told = report.as_dict()
    assert told["way"] == report.way
    assert {row["policy"] for row in told["rows"]} == {RECALL, "pointwise", "lambdarank", "doubtful", GOLD}


@pytest.mark.parametrize("way", ["pointwise", "lambdarank", "doubtful"])
def test_a_way_that_is_asked_for_is_the_one_that_is_kept(way, labelled, tight, distilled):
    _, folder = distilled
    kept = distill(labelled, tight, BOTH, Wanted(str(folder / "scores.parquet"), folds=1, way=way))
    objective = {"pointwise": "regression", "lambdarank": "lambdarank", "doubtful": "cross_entropy"}[way]
    assert (kept.way, kept.ranker.params.objective) == (way, objective)
    assert f"[objective: {objective}]" in kept.ranker.model_text
    assert kept.validated.agreements == ()


def test_a_model_that_rates_is_asked_and_what_it_could_not_rate_is_counted(labelled, tight):
    cloudpickle.register_pickle_by_value(teachers)
    teacher = Teacher("words", "words 1", ModelSpec("words", partial(teachers.Rater)), top=20)
    report = distill(labelled, tight, BOTH, Wanted(folds=2), teacher)
    scores = labelled.scan("teacher_scores", teacher="words-lexical-top20").collect()
    pools = labelled.scan("pools", profile="lexical").filter(pl.col("pool_position") <= 20).collect()
    assert report.counts["rows"] == scores.height == pools.height
    assert "teacher: words 1" in report.ranker.card
    assert report.counts["scores_failed"] == 0


def test_without_scores_and_teacher_and_with_scores_of_nothing_it_says_what_to_do(labelled, tight, rated, tmp_path):
    with pytest.raises(ConfigError, match="no teacher: name one, or hand over"):
        distill(labelled, tight, BOTH)
    rated.with_columns(request_id=pl.lit("other")).unique(["history_id", "session_index", "turn_index"]).write_parquet(
        tmp_path / "other.parquet"
    )
    with pytest.raises(NothingToLearn, match="Distil where"):
        distill(labelled, tight, BOTH, Wanted(str(tmp_path / "other.parquet")))

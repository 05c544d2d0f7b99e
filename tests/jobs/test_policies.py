"""Policies from a profile to slates: what a run makes, leaves out and refuses."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from inside import ITEMS, LEXICAL, ran, stored

from cluster.stage import Stage
from jobs.config import Profile, load_profile
from jobs.graph import stages, stages_to_features
from jobs.mistakes import explain
from jobs.ranker_suits import require_own_scores, scored_by
from jobs.run import Resources
from jobs.train.job import train
from models.calibration import Calibration
from models.ranker import LightGBMRanker, RankerError
from models.tokens import token_counter
from pipeline.policies.orders import PolicyError


def with_policies(*policies: str) -> Profile:
    slates = LEXICAL.slates.model_copy(update={"policies": policies, "budgets": (120, 900)})
    return LEXICAL.model_copy(update={"name": "policies", "slates": slates})


def of_slates(profile: Profile, ranker: LightGBMRanker | None) -> Stage | None:
    return next((stage for stage in stages(profile, "o200k_base", ranker) if stage.name == "slates"), None)


RANKER = LightGBMRanker("tree\n", LEXICAL.features, load_profile("lexical").ranker, "policies")
CALIBRATED = replace(RANKER, calibration=Calibration(slope=1.0, intercept=-2.0))
LEARNED = ("lambdarank", "adaptive_k", "knapsack")


@pytest.mark.flash
def test_without_a_ranker_every_policy_that_goes_by_one_is_left_out() -> None:
    made = of_slates(with_policies("recall_order", *LEARNED, "bm25_order", "oracle"), None)
    assert made is not None
    assert made.config["policies"] == ["recall_order", "bm25_order"]
    assert made.identities == ()
    assert of_slates(with_policies(*LEARNED), None) is None


@pytest.mark.flash
def test_a_channel_s_policy_reads_the_pools_only_where_its_score_and_rank_are_no_features() -> None:
    assert "pools" not in of_slates(with_policies("bm25_order"), None).inputs
    without = with_policies("bm25_order").model_copy(update={"features": ("pool_position", "bm25_score")})
    assert "pools" in of_slates(without, None).inputs
    assert "pools" not in of_slates(without.model_copy(update={"slates": LEXICAL.slates}), None).inputs


@pytest.mark.flash
def test_every_channel_and_view_of_a_profile_is_a_policy() -> None:
    profile = load_profile("default")
    named = tuple(f"{name}_order" for name in profile.recall.scored)
    values = profile.model_dump(mode="json")
    values["slates"]["policies"] = list(named)
    assert Profile.model_validate(values).rankings == ()


@pytest.mark.flash
@pytest.mark.parametrize("policy", LEARNED)
def test_the_ranker_is_part_of_the_stamp_of_each_policy_that_goes_by_it(policy) -> None:
    made = of_slates(with_policies("recall_order", policy), CALIBRATED)
    assert made is not None
    assert made.identities == (CALIBRATED.identity,)
    plain = of_slates(with_policies("recall_order"), CALIBRATED)
    assert plain is not None
    assert plain.identities == ()


@pytest.mark.flash
def test_a_ranker_without_a_calibration_is_refused_for_the_knapsack_before_anything_runs() -> None:
    with pytest.raises(PolicyError, match="no calibration") as refused:
        stages(with_policies("knapsack"), "o200k_base", RANKER)
    assert explain(refused.value) == (str(refused.value), 2)
    stages(with_policies("lambdarank", "adaptive_k"), "o200k_base", RANKER)


@pytest.mark.cluster
def test_a_run_makes_slates_of_every_policy_within_their_budgets(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    lake = stored(tmp_path, ITEMS)
    trained = train(lake, LEXICAL, Resources(workers=1)).ranker
    ranker = replace(trained, calibration=Calibration(slope=1.0, intercept=-2.0))
    policies = ("recall_order", "bm25_order", *LEARNED, "oracle")
    ran(lake, with_policies(*policies), ranker)
    slates = pl.read_parquet(f"{lake.url}/*slates/profile=policies/*/*.parquet", hive_partitioning=False)
    assert slates.height == len(ITEMS) * len(policies) * 2
    counted = token_counter(lake.tokenizer).count_many(slates["text"].to_list()).tolist()
    assert counted == slates["n_tokens"].to_list()
    assert (slates["n_tokens"] <= slates["budget"]).all()
    texts = {policy: set(slates.filter(policy=policy)["text"]) for policy in LEARNED}
    assert texts["lambdarank"] != texts["adaptive_k"] != texts["knapsack"] != texts["lambdarank"]


@pytest.mark.flash
def test_a_ranker_of_features_that_the_profile_does_not_make_is_refused_before_anything_runs():
    other = replace(RANKER, feature_names=("dense_score", *LEXICAL.features))
    with pytest.raises(RankerError, match=r"features that profile policies does not make \(dense_score\)"):
        stages(with_policies("lambdarank"), "o200k_base", other)
    assert of_slates(with_policies("recall_order"), other) is not None


@pytest.mark.flash
def test_a_ranker_of_scores_that_the_run_does_not_have_is_refused_before_anything_runs():
    other = replace(RANKER, scored_by=("0123456789abcdef",))
    profile = with_policies("lambdarank")
    with pytest.raises(RankerError, match="scores of another model, or of another tuning"):
        require_own_scores(other, profile, stages(profile, "o200k_base", other))
    require_own_scores(RANKER, profile, stages(profile, "o200k_base", RANKER))


@pytest.mark.flash
def test_scores_are_told_apart_by_their_models_and_not_by_where_codes_come_from():
    default = load_profile("default")

    def scores(**changes: object) -> tuple[str, ...]:
        return scored_by(stages_to_features(default.model_copy(update=changes)))

    late, embedder = default.late_interaction, default.embedder
    assert len(scores()) == 2
    assert scores(late_interaction=late.model_copy(update={"source": "on_the_fly", "code": "pooled"})) == scores()
    shorter = scores(embedder=embedder.model_copy(update={"max_tokens": 128}))
    assert len(set(shorter) & set(scores())) == 1
    assert scored_by(stages_to_features(LEXICAL)) == ()

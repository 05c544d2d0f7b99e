"""Late interaction on a lake: where codes come from changes no pool, and tuning is crosswise over histories."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from inside import ITEMS, ran, stored
from tiny_bert import tiny_bert

from cluster.exits import NEEDS_BACKFILL
from cluster.lake import Lake
from jobs.config import Profile, load_profile, parse_profile
from jobs.finetune import NothingToTune, folds_of, parts_of, run_finetune, without_tuned
from jobs.graph import stages_to_features
from jobs.ranker_suits import scored_by
from jobs.run import Resources, run
from models.encoder_registry import RegisteredEncoder, find_tuned
from models.finetune import FinetuneParams
from models.tuned_encoder import OF_ALL
from pipeline.recall.options import PoolOptions

KEY = ["history_id", "request_id", "pool_position"]
PROFILE = """
name: {name}
embedder: null
late_interaction: {{model: {model}, max_tokens: 64, source: {source}, code: {code}}}
recall: {{channels: [bm25, {channels}], prefilter: 12, pool_size: 20}}
features: [pool_position]
slates: {{policies: [recall_order], budgets: [300]}}
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("models") / "tiny")


def profile_of(
    name: str, model: Path, source: str = "stored", code: str = "int8", channels: str = "late_interaction"
) -> Profile:
    values = {"name": name, "model": model, "source": source, "code": code, "channels": channels}
    return parse_profile(PROFILE.format(**values), "test")


def pools_of(lake: Lake, profile: Profile) -> pl.DataFrame:
    return pl.read_parquet(f"{lake.url}/pools/profile={profile.name}/*/*.parquet", hive_partitioning=False).sort(KEY)


@pytest.mark.slow
@pytest.mark.cluster
@pytest.mark.parametrize("code", ["int8", "pooled"])
def test_pools_of_stored_codes_are_those_of_codes_made_on_the_fly(model: Path, tmp_path: Path, code: str) -> None:
    lake = stored(tmp_path, ITEMS[:3])
    made = {}
    for source in ("stored", "on_the_fly"):
        profile = profile_of(source, model, source, code)
        ran(lake, profile, workers=2)
        made[source] = pools_of(lake, profile)
    assert made["stored"].equals(made["on_the_fly"])
    scored = made["stored"]["late_interaction_score"]
    assert scored.null_count() < len(scored)
    assert (
        made["stored"]
        .group_by("request_id")
        .agg(pl.col("late_interaction_rank").max())["late_interaction_rank"]
        .to_list()
        == [12] * 3
    )
    (choice,) = lake.choices("turn_tokens")
    assert choice[1].endswith(code)


@pytest.mark.slow
@pytest.mark.cluster
def test_tuning_leaves_each_history_out_of_the_encoder_that_reads_it_and_a_run_takes_the_champion(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    lake = stored(tmp_path, ITEMS[:4])
    profile = profile_of("tried", model, channels="late_interaction, tuned_interaction")
    params = FinetuneParams(layers=1, epochs=1, batch_size=4, max_tokens=32)
    report = run_finetune(lake, profile, Resources(workers=2), 2, params, tmp_path / "encoder")
    tuned = report.tuned
    histories = pl.read_parquet(f"{lake.url}/requests/*/*.parquet")["history_id"].unique().sort().to_list()
    assert dict(tuned.fold_of) == folds_of(histories, 2)
    assert set(tuned.files) == {OF_ALL, "fold-0", "fold-1"}
    assert (report.counts["histories"], report.counts["requests"], report.counts["folds"]) == (4, 4, 2)
    assert 0 < tuned.metrics["held_out_mrr_frozen"] <= 1
    assert report.registered == RegisteredEncoder("slatemill-tried-encoder", "1", is_champion=True)
    assert find_tuned(None, "tried").identity == tuned.identity == find_tuned(str(tmp_path / "encoder"), "x").identity
    # The frozen encoder's codes are those of the past: finetune left them.
    assert run(lake, profile, Resources(workers=2), None, None)[0].exit_code == NEEDS_BACKFILL
    resources = Resources(workers=2, backfill=("tuned_turn_tokens",))
    assert run(lake, profile, resources, None, None)[0].exit_code == 0
    pools = pools_of(lake, profile).drop_nulls(["late_interaction_score", "tuned_interaction_score"])
    apart = np.abs(pools["late_interaction_score"].to_numpy() - pools["tuned_interaction_score"].to_numpy())
    assert apart.max() > 0.001
    assert {choice[1].split("-")[0] for choice in lake.choices("turn_tokens")} == {"tiny", "tuned"}
    frozen, both = (scored_by(stages_to_features(one)) for one in (without_tuned(profile), profile))
    assert len(set(both) - set(frozen)) == 1


@pytest.mark.flash
def test_the_profile_that_negatives_come_from_has_the_frozen_encoder_in_place_of_the_tuned_one() -> None:
    recall = PoolOptions(
        channels=("bm25", "tuned_interaction", "late_interaction", "tuned_own"),
        views=("tuned_content",),
        weights={"tuned_own": 2.0, "bm25": 3.0},
    )
    profile = load_profile("default").model_copy(update={"recall": recall})
    made = without_tuned(profile)
    assert made.recall.channels == ("bm25", "late_interaction", "late_own")
    assert (made.recall.views, dict(made.recall.weights)) == ((), {"late_own": 2.0, "bm25": 3.0})
    assert (made.name, made.features) == ("default.untuned", ("pool_position",))
    in_views = recall.model_copy(update={"channels": ("bm25",), "weights": {}})
    assert without_tuned(profile.model_copy(update={"recall": in_views})).recall.encoders == ("late",)
    with pytest.raises(NothingToTune, match="profile lexical has no late interaction"):
        without_tuned(load_profile("lexical"))


@pytest.mark.flash
@pytest.mark.parametrize(
    ("histories", "folds", "found"),
    [(["a", "b"], 5, {"a": 0, "b": 1}), (["a", "b", "c"], 2, {"a": 0, "b": 1, "c": 0})],
)
def test_histories_go_to_folds_in_turn(histories: list[str], folds: int, found: dict[str, int]) -> None:
    assert folds_of(histories, folds) == {name: f"fold-{fold}" for name, fold in found.items()}


@pytest.mark.flash
def test_one_history_alone_is_not_tuned_on() -> None:
    with pytest.raises(NothingToTune, match="of one history alone"):
        folds_of(["a"], 3)


@pytest.mark.flash
def test_a_variant_learns_from_no_history_of_its_fold_and_is_checked_on_those_alone() -> None:
    found = pl.DataFrame({"history_id": ["a", "b", "c", "a"], "request": ["1", "2", "3", "4"]})
    fold_of = folds_of(["a", "b", "c"], 2)
    for variant in ("fold-0", "fold-1"):
        learned, held_out = parts_of(found, fold_of, variant)
        of_fold = {history for history, fold in fold_of.items() if fold == variant}
        assert set(held_out["history_id"]) == of_fold
        assert set(learned["history_id"]) == set("abc") - of_fold
    learned, held_out = parts_of(found, fold_of, OF_ALL)
    assert (learned.height, held_out.height) == (4, 0)

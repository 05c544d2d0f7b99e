"""A version becomes champion where it is not inferior; else it is said why, and force is written down."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from inside import LEXICAL, said_by_main, stored

from cluster import rayenv
from cluster.lake import Lake
from jobs.config import ConfigError
from jobs.overrides import override
from jobs.promote import CHALLENGER, Bout, Promotion, profile_of, promote, verdict
from jobs.run import Resources
from jobs.train.data import gather
from jobs.train.features import make_features
from models.ranker import LightGBMRanker, fit
from models.ranker_params import RankerParams
from models.registry import (
    ChampionChanged,
    Registered,
    challenger_and_champion,
    client,
    crown,
    load_ranker,
    log_training,
)
from pipeline.evaluate.bootstrap import Estimate
from pipeline.evaluate.by_history import Shares
from pipeline.features.groups import training_groups
from pipeline.synth.histories import history

NAME = "slatemill-lexical"
TIGHT = override(LEXICAL, "100,300", None)
TWO = Resources(workers=2)


@dataclass(frozen=True)
class Ground:
    """A lake, and two rankers that have seen none of it: one that learned from its evidence, one from all else."""

    lake: Lake
    good: LightGBMRanker
    bad: LightGBMRanker


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    lake = stored(tmp_path_factory.mktemp("ground"), [history(seed=3, index=index, sessions=6) for index in range(14)])
    with rayenv.session(workers=2):
        make_features(lake, TIGHT, TWO)
        groups = training_groups(*gather(lake, TIGHT), TIGHT.features)
        params = RankerParams(trees=30, min_data_in_leaf=2)
        good, bad = (
            fit(groups.matrix, labels, groups.group_sizes, TIGHT.features, params, profile="lexical")
            for labels in (groups.relevance, np.ones_like(groups.relevance) - groups.relevance)
        )
        yield Ground(lake, good, bad)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def registered(*rankers: LightGBMRanker) -> None:
    for ranker in rankers:
        log_training(ranker, {}, {}, "lexical")


def champion() -> str:
    found = load_ranker(None, "lexical")
    assert found is not None
    return found[0].identity


def decided(ground: Ground, version: int = 2, **how: object) -> Promotion:
    return promote(ground.lake, TIGHT, *challenger_and_champion(f"{NAME}/{version}"), 0.01, TWO, **how)


def tags(version: int) -> dict[str, str]:
    found = client().get_model_version(NAME, str(version)).tags
    return {
        name.removeprefix("slatemill.promotion."): value for name, value in found.items() if "promotion" in name
    }  # fmt: skip


@pytest.mark.cluster
def test_a_better_version_takes_the_place_of_the_champion(ground, store):
    registered(ground.bad, ground.good)
    found = decided(ground)
    assert (found.promoted, found.forced, found.why_not) == (True, False, "")
    assert champion() == ground.good.identity
    for budget in (100, 300):
        assert found.bout.of(CHALLENGER, budget).difference.value > 0
    said = tags(2)
    assert (said["promoted"], said["champion"], said["margin"]) == ("true", "1", "0.01")
    assert said["data_digest"] == found.bout.digest
    assert found.bout.of(CHALLENGER, 100).difference.text(signed=True, interval=True) in said["at_100"]


@pytest.mark.cluster
def test_a_worse_version_does_not_and_it_is_said_why(ground, store):
    registered(ground.good, ground.bad)
    found = decided(ground)
    assert not found.promoted
    assert "worse than the champion" in found.why_not
    assert champion() == ground.good.identity
    assert tags(2)["promoted"] == "false"
    assert tags(2)["why_not"] == found.why_not


@pytest.mark.cluster
def test_by_force_a_worse_one_does_and_who_and_why_not_is_kept(ground, store, monkeypatch):
    monkeypatch.setenv("LOGNAME", "ada")
    registered(ground.good, ground.bad)
    found = decided(ground, force=True)
    assert (found.promoted, found.forced) == (True, True)
    assert champion() == ground.bad.identity
    said = tags(2)
    assert (said["forced"], said["by"]) == ("true", "ada")
    assert "worse" in said["why_not"]
    assert said["at"].startswith("20")
    runs = client().search_runs([client().get_experiment_by_name("slatemill").experiment_id])
    [logged] = [run for run in runs if run.info.run_name == f"promote {NAME}/2"]
    assert logged.data.params["forced"] == "True"
    assert logged.data.metrics["all/challenger/100/difference_value"] < 0


@pytest.mark.cluster
def test_the_same_ranker_trained_again_is_not_inferior(ground, store):
    registered(ground.good, replace(ground.good, profile="lexical"))
    found = decided(ground)
    assert found.promoted
    assert {found.bout.lower_bound(budget) for budget in (100, 300)} == {0}


@pytest.mark.cluster
def test_histories_that_either_was_trained_on_are_left_out_and_counted(ground, store):
    histories = sorted(ground.lake.scan("labels").select("history_id").unique().collect()["history_id"])
    registered(
        replace(ground.bad, seen_histories=(histories[0],)), replace(ground.good, seen_histories=tuple(histories[1:4]))
    )
    found = decided(ground)
    assert (found.bout.n_histories, found.bout.n_left_out) == (len(histories) - 4, 4)
    assert found.bout.n_requests == len(histories) - 4


@pytest.mark.cluster
def test_where_no_history_is_left_it_refuses_unless_forced(ground, store, monkeypatch, capsys):
    histories = sorted(ground.lake.scan("labels").select("history_id").unique().collect()["history_id"])
    registered(ground.good, replace(ground.bad, seen_histories=tuple(histories)))
    code, _, err = said_by_main(monkeypatch, capsys, "promote", ground.lake.url, f"{NAME}/2")
    assert code == 2
    assert "none is left that neither version was trained on" in err
    assert champion() == ground.good.identity
    code, out, _ = said_by_main(monkeypatch, capsys, "promote", ground.lake.url, f"{NAME}/2", "--force")
    assert code == 0
    assert "by force" in " ".join(out.split())
    assert champion() == ground.bad.identity


@pytest.mark.cluster
def test_a_champion_of_scores_that_runs_no_longer_have_is_replaced_by_force_alone(ground, store, monkeypatch, capsys):
    registered(replace(ground.good, scored_by=("0123456789abcdef",)), ground.bad)
    code, _, err = said_by_main(monkeypatch, capsys, "promote", ground.lake.url, f"{NAME}/2")
    assert code == 2
    assert "the champion, version 1, learned from the scores of another model" in " ".join(err.split())
    code, _, _ = said_by_main(monkeypatch, capsys, "promote", ground.lake.url, f"{NAME}/2", "--force")
    assert code == 0
    assert champion() == ground.bad.identity


@pytest.mark.cluster
def test_the_command_ends_with_code_1_where_a_version_is_inferior_and_prints_what_it_went_by(
    ground, store, monkeypatch, capsys
):
    registered(ground.good, ground.bad)
    arguments = ("promote", ground.lake.url, f"{NAME}/2", "--budgets", "100", "--margin", "0.02")
    code, out, _ = said_by_main(monkeypatch, capsys, *arguments)
    assert code == 1
    assert all(word in out for word in ("champion", "challenger", "100 tokens", "> -0.02", "not promoted", "data "))
    assert all(len(line) <= 80 for line in out.splitlines() if "tokens" in line and "[" in line)
    code, out, _ = said_by_main(monkeypatch, capsys, *arguments, "--json")
    told = json.loads(out)
    assert (code, told["promoted"], told["margin"]) == (1, False, 0.02)
    assert {row["budget"] for row in told["rows"]} == {100}
    assert len(told["data_digest"]) == 64


@pytest.mark.cluster
def test_without_a_champion_or_as_the_champion_nothing_is_compared(ground, store):
    registered(ground.good)
    assert decided(ground, version=1).bout is None
    assert tags(1) == {}
    client().delete_registered_model_alias(NAME, "champion")
    found = decided(ground, version=1)
    assert (found.promoted, found.champion) == (True, None)
    assert champion() == ground.good.identity
    assert tags(1)["promoted"] == "true"


@pytest.mark.cluster
def test_a_champion_that_changed_meanwhile_is_not_replaced(ground, store):
    registered(ground.good, ground.bad, ground.good)
    chosen, present = challenger_and_champion(f"{NAME}/3")
    client().set_registered_model_alias(NAME, "champion", "2")
    with pytest.raises(ChampionChanged, match="promote again"):
        crown(chosen, present)
    assert champion() == ground.bad.identity


@pytest.mark.cluster
def test_a_version_is_judged_by_its_own_profile_alone(ground):
    chosen = Registered(NAME, "2", ground.good)
    assert profile_of(chosen, None).name == "lexical"
    with pytest.raises(ConfigError, match="trained for profile lexical, not agentmemrec"):
        profile_of(chosen, "agentmemrec")


@pytest.mark.flash
@pytest.mark.parametrize(
    ("low", "value", "high", "margin", "why"),
    [
        (-0.009, 0.0, 0.02, 0.01, ""),
        (-0.01, 0.0, 0.02, 0.01, "may be worse"),
        (-0.05, 0.01, 0.07, 0.01, "may be worse"),
        (-0.05, -0.03, -0.01, 0.02, "it is worse"),
        (-0.05, -0.03, -0.01, 0.06, ""),
    ],
)
def test_not_inferior_is_a_lower_bound_above_the_margin(low, value, high, margin, why):
    half = Estimate(0.5, 0.4, 0.6)
    better = Shares(CHALLENGER, 300, "all", 10, 5, half, half, half, Estimate(0.1, 0.05, 0.2))
    row = Shares(CHALLENGER, 100, "all", 10, 5, half, half, half, Estimate(value, low, high))
    found = verdict(Bout((row, better), "digest", 5, 10, 0), margin)
    assert found.startswith("it " + why if why and not why.startswith("it") else why)
    assert bool(found) == bool(why)

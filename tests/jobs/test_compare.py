"""`slatemill compare` sets two policies of the latest runs side by side, request by request."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from inside import ITEMS, LEXICAL, ran, stored
from rich.console import Console

from cluster import snapshot
from cluster.lake import Lake
from jobs import compare as compare_module
from jobs.compare import NothingInCommon, Side, compare, log, show_comparison, side
from jobs.config import ConfigError
from jobs.evaluate import RunUnfinished
from models.tracking import client

ORACLE = Side("lexical", "oracle")
RECALL = Side("lexical", "recall_order")

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> Lake:
    lake = stored(tmp_path_factory.mktemp("asked"), ITEMS)
    ran(lake)
    return lake


def test_each_budget_has_a_row_a_stratum_and_the_oracle_is_no_worse_than_recall(asked):
    found, about = compare(asked, ORACLE, RECALL, draws=200, seed=0)
    assert {row.budget for row in found} == set(LEXICAL.slates.budgets)
    assert {row.stratum for row in found} >= {"all"}
    assert all(row.ours >= row.theirs for row in found)
    assert all(row.over_requests.value == pytest.approx(row.ours - row.theirs) for row in found)
    assert about["ours"]["run_id"] == about["theirs"]["run_id"]
    out = io.StringIO()
    show_comparison(found, ORACLE, RECALL, Console(file=out, width=120))
    assert "lexical oracle minus lexical recall_order" in " ".join(out.getvalue().split())


def test_a_budget_may_be_set_against_a_larger_one_of_the_other_side(asked):
    found, _ = compare(asked, Side("lexical", "oracle", 900), Side("lexical", "recall_order", 2700), draws=100, seed=0)
    assert {(row.budget, row.against_budget) for row in found} == {(900, 2700)}


def test_a_policy_or_budget_that_is_not_there_is_named(asked):
    with pytest.raises(NothingInCommon, match="has no policy lambdarank: its policies are oracle, recall_order"):
        compare(asked, Side("lexical", "lambdarank"), RECALL, draws=100, seed=0)
    with pytest.raises(NothingInCommon, match="no request and budget in common"):
        compare(asked, Side("lexical", "oracle", 17), Side("lexical", "recall_order", 17), draws=100, seed=0)


def taken_again(lake: Lake, profile: str, **changed: object) -> None:
    """The latest run of lexical once more, as if another profile's or with another end."""
    latest = snapshot.latest(lake, "lexical")
    run_id = snapshot.new_run_id(datetime.now(UTC))
    snapshot.write(lake, replace(latest, run_id=run_id, profile=profile, **changed))


def test_histories_that_the_ranker_of_either_side_has_learned_from_are_left_out_of_both(asked):
    found, about = compare(asked, ORACLE, RECALL, draws=100, seed=0)
    learned = ITEMS[0]["question_id"]
    assert about["histories_learned_from"] == 0
    taken_again(asked, "learned", identities={"ranker": {"identity": "r", "seen_histories": [learned]}})
    learned_side = Side("learned", "oracle")
    for pair in ((learned_side, RECALL), (RECALL, learned_side)):
        left, about = compare(asked, *pair, draws=100, seed=0)
        assert about["histories_learned_from"] == 1
        assert {row.n_histories for row in left if row.stratum == "all"} == {len(ITEMS) - 1}
    assert {row.n_histories for row in found if row.stratum == "all"} == {len(ITEMS)}


def test_a_run_that_did_not_make_every_slate_is_not_compared(asked):
    taken_again(asked, "broken", exit_code=1)
    with pytest.raises(RunUnfinished, match="of profile broken ended with code 1"):
        compare(asked, Side("broken", "oracle"), RECALL, draws=100, seed=0)


def test_the_outcomes_of_two_policies_of_one_profile_are_read_once(asked, monkeypatch):
    read = []
    finished = compare_module.finished_outcomes
    monkeypatch.setattr(
        compare_module, "finished_outcomes", lambda lake, taken: read.append(taken.profile) or finished(lake, taken)
    )
    compare(asked, ORACLE, RECALL, draws=100, seed=0)
    assert read == ["lexical"]


def test_a_comparison_is_logged_under_both_names_with_flat_params_and_its_differences(asked, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.chdir(tmp_path)
    ours, theirs = Side("lexical", "oracle", 900), Side("lexical", "recall_order", 2700)
    found, about = compare(asked, ours, theirs, draws=100, seed=3)
    run_id = log(found, about)
    run = client().get_run(run_id)
    assert run.info.run_name == "compare lexical:oracle lexical:recall_order"
    expected = {"ours_policy": "oracle", "theirs_policy": "recall_order", "ours_budgets": "900",
                "theirs_budgets": "2700", "ours_profile": "lexical", "theirs_profile": "lexical", "draws": "100",
                "seed": "3", "histories_learned_from": "0"}  # fmt: skip
    run_ids = {"ours_run_id": about["ours"]["run_id"], "theirs_run_id": about["theirs"]["run_id"]}
    assert run.data.params == expected | run_ids
    row = next(row for row in found if row.stratum == "all")
    assert run.data.metrics["all/difference/900/difference"] == pytest.approx(row.over_requests.value)
    assert run.data.metrics["all/difference/900/low"] == pytest.approx(row.over_requests.low)
    table = client().download_artifacts(run_id, "comparison.json", str(tmp_path))
    with open(table) as file:
        assert len(json.load(file)["rows"]) == len(found)


def test_a_side_is_a_profile_and_a_policy():
    assert side("lexical:oracle", 900) == Side("lexical", "oracle", 900)
    assert side("lexical", None) == Side("lexical", "lambdarank")
    with pytest.raises(ConfigError, match="no profile 'lexicl'"):
        side("lexicl:oracle", None)

"""`slatemill plan` on real lakes: what it says is what the run after it does, and it does nothing itself."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from inside import ITEMS, LEXICAL, contents, delivered, said_by_main, stored
from rich.console import Console

from cluster import rayenv, snapshot
from cluster.exits import NEEDS_BACKFILL
from cluster.forecast import LEFT, Outlook
from cluster.lake import Lake
from cluster.stamp import Cause
from jobs import graph
from jobs.config import Profile, load_profile
from jobs.overrides import override
from jobs.plan import Planned, plan
from jobs.plan_report import show_plan
from jobs.run import Resources, run
from jobs.train.job import train
from models.ranker import LightGBMRanker, fit
from models.ranker_params import RankerParams
from pipeline.synth.histories import history

FOLLOWING = ("features", "slates", "oracle_slates")


@pytest.fixture(scope="module", autouse=True)
def _one_ray():
    """Runs find a Ray running: the tests are about what is planned."""
    with rayenv.session(workers=2):
        yield


def ranker(trees: int) -> LightGBMRanker:
    rows = np.arange(80)
    features = (rows[:, None] % 7 + np.arange(len(LEXICAL.features))).astype(np.float32)
    params = RankerParams(trees=trees, num_leaves=4)
    return fit(features, (rows % 7 > 4).astype(np.int32), np.full(4, 20), LEXICAL.features, params, profile="lexical")


def then_ran(
    lake: Lake, profile: Profile = LEXICAL, ranker: LightGBMRanker | None = None, backfill: tuple[str, ...] = ()
) -> Planned:
    """A plan, after a check that it wrote nothing and that a run with the same options does what it says."""
    before = contents(lake)
    planned = plan(lake, profile, ranker, backfill)
    assert contents(lake) == before
    report, _ = run(lake, profile, Resources(workers=2, backfill=backfill), ranker, None)
    assert [stage.name for stage in planned.stages] == [stage.name for stage in report.stages]
    for foretold, did in zip(planned.stages, report.stages, strict=True):
        do, follow = foretold.shards[Outlook.DO], foretold.shards[Outlook.FOLLOW]
        assert did.total == sum(foretold.shards.values())
        assert do <= did.done <= do + follow
        assert did.needs_backfill == foretold.shards[Outlook.NEEDS_BACKFILL]
        assert did.blocked == foretold.shards[Outlook.BLOCKED]
        assert did.done + did.reused + did.needs_backfill + did.blocked == did.total
        assert sum(foretold.why.values()) == did.total - foretold.shards[Outlook.REUSE]
    assert (report.exit_code == NEEDS_BACKFILL) == bool(planned.shards(Outlook.NEEDS_BACKFILL))
    again = plan(lake, profile, ranker, backfill)
    assert again.shards(Outlook.DO, Outlook.FOLLOW) == 0
    return planned


def causes(planned: Planned) -> dict[str, set[tuple[str, str, tuple[str, ...]]]]:
    """Of each stage that has any: outlook, cause and names."""
    found: dict[str, set[tuple[str, str, tuple[str, ...]]]] = {}
    for stage in planned.stages:
        for outlook, reasons in stage.why:
            for reason in reasons:
                found.setdefault(stage.name, set()).add((outlook.value, reason.cause.value, reason.names))
    return found


@pytest.mark.cluster
def test_a_run_does_what_was_planned_whatever_has_changed(tmp_path):
    lake = stored(tmp_path, ITEMS)
    new = then_ran(lake)
    assert set.union(*causes(new).values()) == {("do", "new", ())}
    assert (new.shards(Outlook.REUSE), new.seconds(Outlook.DO)) == (0, 0.0)
    assert new.unpriced(Outlook.DO) == [stage.name for stage in new.stages]

    second = then_ran(lake)
    assert causes(second) == {}
    assert second.shards(Outlook.REUSE) == second.shards(*Outlook)

    budgets = then_ran(lake, override(LEXICAL, "500,2700", None))
    assert causes(budgets) == {name: {("do", "config", ("budgets",))} for name in ("slates", "oracle_slates")}
    assert budgets.seconds(Outlook.DO) > 0
    assert budgets.unpriced(Outlook.DO, Outlook.FOLLOW) == []

    then_ran(lake)
    recall = LEXICAL.recall.model_copy(update={"pool_size": 6})
    smaller = then_ran(lake, LEXICAL.model_copy(update={"recall": recall}))
    assert causes(smaller) == {
        "pools": {("do", "config", ("recall.pool_size",))},
        "features": {("follow", "upstream", ("pools",))},
        **{name: {("follow", "upstream", ("features",))} for name in ("slates", "oracle_slates")},
    }

    then_ran(lake)
    first = {name: shards for name, shards in _shards(plan(lake, LEXICAL, None)).items() if name != "terms"}
    delivered(lake, tmp_path / "later.json", [history(seed=9, index=index, sessions=2) for index in range(3)])
    added = then_ran(lake)
    assert set.union(*causes(added).values()) == {("do", "new", ())}
    assert {name: shards["reuse"] for name, shards in _shards(added).items() if name in first} == {
        name: shards["reuse"] for name, shards in first.items()
    }

    ranked = then_ran(lake, LEXICAL, ranker(2))
    assert causes(ranked) == {"slates": {("do", "config", ("policies",)), ("do", "model", ())}}
    other = then_ran(lake, LEXICAL, ranker(3))
    assert causes(other) == {"slates": {("do", "model", ())}}

    latest = then_ran(lake, override(LEXICAL, None, "latest"), ranker(3))
    assert ("do", "config", ("as_of",)) in causes(latest)["pools"]

    sibling = then_ran(lake, LEXICAL.model_copy(update={"name": "sibling"}))
    assert set.union(*causes(sibling).values()) == {("do", Cause.CHOICE.value, ())}
    assert {stage.price.of_this_choice for stage in sibling.stages if stage.name != "terms"} == {False}


def _shards(planned: Planned) -> dict[str, dict[str, int]]:
    return {stage["stage"]: stage["shards"] for stage in planned.as_dict()["stages"]}


@pytest.mark.cluster
def test_a_new_version_of_a_stage_that_gives_the_same_rows_leaves_what_follows(tmp_path, monkeypatch):
    lake = stored(tmp_path, ITEMS[:2])
    then_ran(lake)
    real = graph.stage

    def raised(name, *arguments, **more):
        stage = real(name, *arguments, **more)
        return stage if name != "pools" else replace(stage, version=stage.version + 1)

    monkeypatch.setattr(graph, "stage", raised)
    planned = then_ran(lake)
    assert causes(planned)["pools"] == {("do", "version", ())}
    assert {outlook for name in FOLLOWING for outlook, *_ in causes(planned)[name]} == {"follow"}


@pytest.mark.cluster
def test_another_analyzer_makes_pools_again_where_the_terms_of_turns_came_out_the_same(tmp_path, monkeypatch):
    lake = stored(tmp_path, ITEMS[:2])
    then_ran(lake)
    monkeypatch.setattr(graph, "ANALYZER_ID", "another")
    planned = causes(then_ran(lake))
    assert planned["terms"] == {("do", Cause.CHOICE.value, ())}
    assert ("do", "config", ("analyzer",)) in planned["pools"]


@pytest.mark.cluster
def test_a_training_leaves_prices_for_the_plan_and_no_run(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    lake = stored(tmp_path, ITEMS)
    train(lake, LEXICAL, Resources(workers=2))
    assert snapshot.latest_run(lake, LEXICAL.name) is None
    worked = snapshot.worked_ids(lake)
    train(lake, LEXICAL, Resources(workers=2))
    assert snapshot.worked_ids(lake) == worked
    delivered(lake, tmp_path / "later.json", [history(seed=9, index=index, sessions=2) for index in range(3)])
    planned = plan(lake, LEXICAL, None)
    priced = {stage.name for stage in planned.stages if stage.price is not None and stage.price.of_this_choice}
    assert priced == {"terms", "pools", "features"}
    assert planned.seconds(Outlook.DO) > 0
    assert planned.unpriced(Outlook.DO) == ["slates", "oracle_slates"]


@pytest.mark.cluster
@pytest.mark.slow
def test_another_embedder_is_priced_as_a_backfill_and_blocks_until_it_is_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    lake = stored(tmp_path, [history(seed=1, index=index, sessions=2) for index in range(2)])
    embedded = load_profile("agentmemrec")
    then_ran(lake, embedded)
    changed = embedded.model_copy(update={"embedder": embedded.embedder.model_copy(update={"max_tokens": 128})})
    left = then_ran(lake, changed)
    shards = _shards(left)
    assert shards["turn_vectors"]["needs_backfill"] == sum(shards["turn_vectors"].values())
    assert causes(left)["turn_vectors"] == {("needs_backfill", "choice", ())}
    assert {outlook for outlook, *_ in causes(left)["pools"]} == {Outlook.BLOCKED.value}
    assert left.seconds(Outlook.NEEDS_BACKFILL) > 0
    (tmp_path / "my profile.yaml").write_text(json.dumps(changed.model_dump(mode="json")))
    monkeypatch.chdir(tmp_path)
    options = ("lake", "-p", "my profile.yaml", "--budgets", "500", "--workers", "2", "--as-of", "arrival")
    hint = f"slatemill run {shlex.join(options)} --backfill turn_vectors"
    for command in ("plan", "run"):
        code, out, err = said_by_main(monkeypatch, capsys, command, *options)
        assert code == (NEEDS_BACKFILL if command == "run" else 0)
        assert any(hint in line for line in (out + err).splitlines())
    asked = then_ran(lake, changed, backfill=("turn_vectors",))
    assert asked.shards(*LEFT) == 0
    assert causes(asked)["turn_vectors"] == {("do", "choice", ())}


@pytest.mark.cluster
def test_what_is_printed_fits_the_terminal_and_json_is_all_that_is_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    lake = stored(tmp_path, ITEMS[:2])
    then_ran(lake)
    options = ("--profile", "lexical", "--budgets", "400", "--as-of", "latest")
    code, out, err = said_by_main(monkeypatch, capsys, "plan", lake.url, *options, "--workers", "3", "--json")
    planned = plan(lake, override(LEXICAL, "400", "latest"), None, workers=3)
    assert (code, json.loads(out)) == (0, planned.as_dict())
    assert "no slates of policy lambdarank" in err
    target = io.StringIO()
    show_plan(planned, "slatemill run", Console(file=target, width=80))
    text = target.getvalue()
    assert max(len(line) for line in text.splitlines()) <= 80
    for said in ("config: budgets", "config: as_of", "upstream: pools", "with 3 workers", "a run does"):
        assert said in text


@pytest.mark.flash
def test_a_mistake_is_said_in_words_and_ends_with_code_2(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    lake = stored(tmp_path, ITEMS[:1]).url
    for arguments, named in (
        (["--as-of", "then"], "--as-of"),
        (["--budgets", "few"], "900,2700"),
        (["--backfill", "vectors"], "no stage vectors to back-fill"),
        (["--ranker", "./nowhere"], "nowhere"),
        (["--profile", "lexicall"], "no profile 'lexicall'"),
    ):
        code, out, err = said_by_main(monkeypatch, capsys, "plan", lake, "--profile", "lexical", *arguments)
        assert (code, out) == (2, "")
        assert named in err.replace("\n", " ")
    code, out, err = said_by_main(monkeypatch, capsys, "plan", str(tmp_path / "nowhere"), "--profile", "lexical")
    assert (code, out) == (2, "")
    assert "slatemill init" in err.replace("\n", " ")


def test_planning_loads_no_ray(tmp_path):
    lake = stored(tmp_path, ITEMS[:1])
    code = (
        "import sys; from cluster.lake import Lake; from jobs.config import load_profile; from jobs.plan import plan; "
        f"print(plan(Lake.open({lake.url!r}), load_profile('lexical'), None).batches, 'ray' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split() == ["1", "False"]

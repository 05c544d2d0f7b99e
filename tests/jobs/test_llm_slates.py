"""The compared designs that ask a language model, through the whole path: a run, its costs, evaluate, compare, show."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from designs_of import kind, sensible
from inside import ITEMS, delivered, ran, stored
from rich.console import Console
from scripted_server import Said, ScriptedServer, refuses, says, scripted_server

from cluster import rayenv, snapshot
from cluster.exits import NEEDS_BACKFILL
from cluster.lake import Lake
from jobs.compare import Side, compare
from jobs.config import ConfigError, Profile, parse_profile
from jobs.evaluate import evaluate
from jobs.graph import stages
from jobs.plan import plan
from jobs.quarantine import kept_aside
from jobs.report import show_evaluation
from jobs.run import Resources, run
from jobs.show import show
from models.interfaces import Prompt
from pipeline.memory.llm_designs.names import LLM_POLICIES, SUMMARY_SHARES
from pipeline.synth.histories import history

BUDGETS = (400, 900)


def profile(url: str = "http://localhost:1/v1", name: str = "asking", more: str = "") -> Profile:
    policies = ", ".join(("recall_order", "oracle", *LLM_POLICIES))
    prices = "price_per_million_prompt_tokens: 1000000, price_per_million_completion_tokens: 0"
    text = f"""
name: {name}
recall: {{channels: [bm25, dense]}}
memory: {{cut: {{reader_tokens: 250}}}}
writer: {{model: m, engine: endpoint, url: {url}, {prices}}}
{more}
slates: {{policies: [{policies}], budgets: [{", ".join(map(str, BUDGETS))}]}}
"""
    return parse_profile(text, "a test")


@pytest.mark.flash
class TestProfile:
    def test_both_stages_come_last_and_ask_the_writer(self):
        made = {stage.name: stage for stage in stages(profile(), "o200k_base")}
        assert list(made)[-2:] == ["llm_notes", "llm_slates"]
        assert made["llm_notes"].costly
        assert made["llm_slates"].costly
        assert made["llm_notes"].model.key == made["llm_slates"].model.key
        assert made["slates"].config["policies"] == ["recall_order"]

    def test_a_teacher_is_asked_when_a_design_reads(self):
        asking = profile(more="teacher: {model: t, engine: endpoint, url: 'http://localhost:1/v1'}")
        made = {stage.name: stage for stage in stages(asking, "o200k_base")}
        assert made["llm_notes"].model.key.startswith("llm-m")
        assert made["llm_slates"].model.key.startswith("llm-t")

    def test_a_profile_that_names_no_such_design_has_no_such_stage(self):
        slates = profile().slates.model_copy(update={"policies": ("recall_order",)})
        plain = profile().model_copy(update={"slates": slates})
        assert not [stage for stage in stages(plain, "o200k_base") if stage.name.startswith("llm")]

    def test_designs_that_only_write_ask_nothing_when_they_are_shown(self):
        slates = profile().slates.model_copy(update={"policies": ("evolving_notes",)})
        made = stages(profile().model_copy(update={"slates": slates}), "o200k_base")
        (shown,) = [stage for stage in made if stage.name == "llm_slates"]
        assert shown.model is None
        assert not shown.costly

    @pytest.mark.parametrize(
        ("policy", "more", "said"),
        [
            ("summary_notes_50", "memory: {}", "when it writes, and the profile has no writer"),
            ("evolving_notes", "memory: {}\nteacher: {model: t}", "when it writes, and the profile has no writer"),
            ("read_agent", "memory: {}", "when it reads, and the profile has no teacher or writer"),
            ("listwise", "", "when it reads, and the profile has no teacher or writer"),
            ("read_agent", "teacher: {model: t}", "shows units and records, and the profile has none"),
        ],
    )
    def test_a_design_without_what_it_needs_is_refused(self, policy, more, said):
        with pytest.raises(ConfigError, match=f"policy {policy} .*{said}"):
            parse_profile(f"name: p\n{more}\nslates: {{policies: [{policy}]}}", "a test")

    def test_listwise_needs_no_memory(self):
        text = "name: p\nteacher: {model: t, engine: endpoint, url: 'http://h/v1'}\nslates: {policies: [listwise]}"
        made = [stage.name for stage in stages(parse_profile(text, "a test"), "o200k_base")]
        assert made[-1] == "llm_slates"
        assert "llm_notes" not in made


def answered(request: dict[str, Any], _: int) -> Said:
    system, user = (message["content"] for message in request["messages"])
    return says(sensible(Prompt(system, user, 1)))


class Made(NamedTuple):
    lake: Lake
    server: ScriptedServer
    profile: Profile
    run_id: str
    asked: Counter[str]


def kinds(server: ScriptedServer) -> Counter[str]:
    return Counter(kind(Prompt(request["messages"][0]["content"], "", 1)) for request in server.asked)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    folder = tmp_path_factory.mktemp("asking")
    with scripted_server(answered) as server, rayenv.session(workers=1):
        lake = stored(folder, ITEMS[:2])
        _, run_id = ran(lake, profile(server.url))
        yield Made(lake, server, profile(server.url), run_id, kinds(server))


def rows(lake: Lake, table: str) -> pl.DataFrame:
    return pl.read_parquet(f"{lake.url}/{table}/**/*.parquet", hive_partitioning=False)


@pytest.mark.cluster
class TestRun:
    def test_each_request_has_a_slate_of_each_design_and_budget(self, made):
        slates = rows(made.lake, "llm_slates")
        n_requests = rows(made.lake, "requests").height
        cells = Counter(slates.select("policy", "budget").iter_rows())
        assert cells == {(policy, budget): n_requests for policy in LLM_POLICIES for budget in BUDGETS}
        assert (slates["n_tokens"] <= 0.95 * slates["budget"]).all()
        assert (slates["n_tokens"] > 0).all()

    def test_what_was_written_is_told_step_by_step(self, made):
        notes = rows(made.lake, "llm_notes")
        assert set(notes["policy"]) == {"evolving_notes", *SUMMARY_SHARES}
        assert set(notes["status"]) == {"ok"}
        assert set(notes["writer"]) == {"m"}
        asked = made.asked["running_summary"] + made.asked["evolve_notes"]
        assert notes["attempts"].sum() == asked
        assert notes["prompt_tokens"].sum() == 10 * asked

    def test_writing_and_reading_are_counted_apart(self, made):
        cost = snapshot.load(made.lake, made.run_id).cost
        written = made.asked["running_summary"] + made.asked["evolve_notes"]
        read = made.asked["read_agent"] + made.asked["listwise"]
        assert written > 0
        assert read > 0
        assert (cost["write"]["calls"], cost["read"]["calls"]) == (written, read)
        assert cost["write"]["money"] == pytest.approx(10 * written)

    def test_evaluate_and_compare_read_them_beside_the_others(self, made):
        measured, about = evaluate(made.lake, "asking", None, draws=50, seed=0)
        assert {row.policy for row in measured.rows} == {"recall_order", "oracle", *LLM_POLICIES}
        assert about["requests_without_slate"] == 0
        assert {tokens.policy for tokens in measured.memory.tokens} == {"recall_order", *LLM_POLICIES}
        out = io.StringIO()
        show_evaluation(measured, about, Console(file=out, width=200))
        assert "listwise" in out.getvalue()
        found, _ = compare(made.lake, Side("asking", "listwise"), Side("asking", "recall_order"), draws=50, seed=0)
        assert {row.budget for row in found} == set(BUDGETS)

    def test_show_shows_one(self, made):
        request = rows(made.lake, "requests").row(0, named=True)["request_id"]
        for policy in LLM_POLICIES:
            shown = show(made.lake, "asking", None, request, policy=policy, budget=BUDGETS[1])
            assert shown.slate is not None
            assert shown.slate.policy == policy

    def test_what_is_there_is_not_asked_for_again_and_what_arrives_is(self, made, tmp_path: Path):
        before = len(made.server.asked)
        ran(made.lake, made.profile)
        assert len(made.server.asked) == before
        old = rows(made.lake, "llm_slates")
        delivered(made.lake, tmp_path / "more.json", [history(seed=9, index=0, sessions=6)])
        ran(made.lake, made.profile)
        assert len(made.server.asked) > before
        kept = rows(made.lake, "llm_slates").join(old.select("request_id"), on="request_id", how="semi")
        assert kept.sort("request_id", "policy", "budget").equals(old.sort("request_id", "policy", "budget"))

    def test_another_profile_writes_what_arrived_before_only_when_it_is_told_to(self, made):
        other = profile(made.server.url, "another")
        before = len(made.server.asked)
        report, _ = run(made.lake, other, Resources(workers=1), None, None)
        assert report.exit_code == NEEDS_BACKFILL
        assert len(made.server.asked) == before
        assert plan(made.lake, other, None, ("llm_notes",)).costs["write"]["calls"] > 0


@pytest.mark.cluster
def test_a_question_that_fails_costs_no_slate_and_is_told_by_quarantine(tmp_path: Path):
    def refused(request: dict[str, Any], number: int) -> Said:
        asked = kind(Prompt(request["messages"][0]["content"], "", 1))
        return refuses(400, "not this one") if asked in ("read_agent", "listwise") else answered(request, number)

    with scripted_server(refused) as server, rayenv.session(workers=1):
        lake = stored(tmp_path, ITEMS[:1])
        ran(lake, profile(server.url))
    groups = kept_aside(lake, "llm_slates")
    assert {(group.code, group.lost) for group in groups} == {("llm_failed", 0)}
    assert {group.reason.split(" ")[0].rstrip(":") for group in groups} == {"read_agent", "listwise"}
    slates = rows(lake, "llm_slates")
    assert set(slates["policy"]) == set(LLM_POLICIES)
    assert (slates["n_tokens"] > 0).all()

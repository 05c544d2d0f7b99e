"""The whole path on generated histories, by the default profile and by the one that needs no model: real files, Ray."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl
import pytest
from inside import ITEMS, LEXICAL, delivered, ran, stored

from cluster import snapshot
from cluster.errors import SnapshotStale
from cluster.lake import Lake
from jobs.config import Profile, load_profile
from jobs.evaluate import RunUnfinished, evaluate
from jobs.ingest import ingest
from jobs.overrides import override
from jobs.run import Resources, run
from models.ranker import LightGBMRanker
from models.shipped import shipped
from models.tokens import token_counter
from pipeline.ingest.errors import IngestError
from pipeline.synth.histories import history

pytestmark = pytest.mark.cluster
KEY = ["history_id", "request_id", "policy", "budget"]


@dataclass(frozen=True)
class Recipe:
    """A profile, the ranker that its runs use, and the histories: fewer where models read them."""

    profile: Profile
    ranker: LightGBMRanker | None
    items: tuple[dict, ...]


def slates_of(lake: Lake, profile: Profile = LEXICAL) -> pl.DataFrame:
    return pl.read_parquet(f"{lake.url}/*slates/profile={profile.name}/*/*.parquet", hive_partitioning=False).sort(KEY)


@pytest.fixture(scope="module", params=["lexical", pytest.param("default", marks=pytest.mark.slow)])
def recipe(request) -> Recipe:
    """lexical without a ranker; default with the one that comes with it."""
    profile = load_profile(request.param)
    if profile.embedder is None:
        return Recipe(profile, None, tuple(ITEMS))
    return Recipe(profile, shipped("shipped/default"), tuple(ITEMS[:3]))


@pytest.fixture(scope="module")
def made(recipe, tmp_path_factory) -> Lake:
    lake = stored(tmp_path_factory.mktemp("made"), recipe.items)
    ran(lake, recipe.profile, recipe.ranker, workers=2)
    return lake


def test_a_second_run_does_no_shard_and_starts_no_ray(made, recipe):
    report, _ = ran(made, recipe.profile, recipe.ranker)
    assert {stage.done for stage in report.stages} == {0}
    assert not report.used_ray


def test_no_slate_is_over_its_budget_and_none_holds_another_history(made, recipe):
    slates = slates_of(made, recipe.profile)
    counter = token_counter("o200k_base")
    left_out = {"lambdarank"} if recipe.ranker is None else set()
    policies = set(recipe.profile.slates.policies) - left_out
    assert set(slates["policy"]) == policies
    assert slates.height == len(recipe.items) * len(policies) * len(recipe.profile.slates.budgets)
    assert counter.count_many(slates["text"].to_list()).tolist() == slates["n_tokens"].to_list()
    assert (slates["n_tokens"] <= slates["budget"]).all()
    said = {
        item["question_id"]: {turn["content"] for session in item["haystack_sessions"] for turn in session}
        for item in recipe.items
    }
    turns = pl.read_parquet(f"{made.url}/turns/*/*.parquet", hive_partitioning=False)
    shown = slates.explode("items").unnest("items", separator=".").rename(
        {"items.session_index": "session_index", "items.turn_index": "turn_index"}
    )  # fmt: skip
    texts = shown.join(turns, on=["history_id", "session_index", "turn_index"], how="inner")
    assert texts.height == shown.height > 0
    assert all(row["text_right"] in said[row["history_id"]] for row in texts.iter_rows(named=True))


def test_shuffled_histories_and_one_worker_give_equal_slates(made, recipe, tmp_path):
    shuffled = list(recipe.items)
    random.Random(3).shuffle(shuffled)
    other = stored(tmp_path, shuffled)
    ran(other, recipe.profile, recipe.ranker, workers=1)
    assert slates_of(other, recipe.profile).equals(slates_of(made, recipe.profile))


def grown(stored_before: tuple[dict, ...]) -> list[dict]:
    """The histories, each with three more sessions of years later, whose turns are nobody's evidence."""
    items = list(copy.deepcopy(stored_before))
    for index, item in enumerate(items):
        more = history(seed=9, index=index, sessions=3)["haystack_sessions"]
        for turn in (turn for session in more for turn in session):
            turn.pop("has_answer", None)
        item["haystack_sessions"] += more
        item["haystack_dates"] += [f"2031/0{month}/01 (Wed) 10:00" for month in (1, 2, 3)]
        item["haystack_session_ids"] += [f"later_{position}" for position in range(3)]
    return items


def test_sessions_that_come_later_in_the_same_file_change_no_byte_of_an_earlier_slate(made, recipe, tmp_path):
    other = stored(tmp_path, grown(recipe.items))
    ran(other, recipe.profile, recipe.ranker)
    assert slates_of(other, recipe.profile).equals(slates_of(made, recipe.profile))


def test_sessions_that_come_in_a_later_batch_change_no_byte_of_an_earlier_slate(made, recipe, tmp_path):
    other = stored(tmp_path, recipe.items)
    arrived = delivered(other, tmp_path / "more.json", grown(recipe.items))
    assert arrived.counts["repeated_requests"] == len(recipe.items)
    ran(other, recipe.profile, recipe.ranker)
    assert slates_of(other, recipe.profile).equals(slates_of(made, recipe.profile))


def says(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "text": text} for text in texts]


def test_a_request_reads_what_had_arrived_when_it_came_unless_it_is_told_to_read_the_latest(tmp_path):
    lake = Lake.init(str(tmp_path / "lake"))
    first = {"session_id": "a", "turns": says("I keep bees on the roof.")}
    question = {"request_id": "q", "text": "What do I keep on the roof?"}
    delivered(lake, tmp_path / "1", [{"history_id": "h", "sessions": [first], "requests": [question]}], "native")
    second = {"session_id": "b", "turns": says("On the roof there are solar panels now.")}
    delivered(lake, tmp_path / "2", [{"history_id": "h", "sessions": [second]}], "native")
    ran(lake)
    assert not slates_of(lake)["text"].str.contains("solar").any()
    ran(lake, override(LEXICAL, None, "latest"))
    latest = slates_of(lake)["text"]
    assert latest.str.contains("solar").all()
    assert latest.str.contains("bees").all()


def test_an_agent_sees_its_steps_up_to_the_one_that_its_request_names(tmp_path):
    lake = Lake.init(str(tmp_path / "lake"))
    steps = [{"session_id": "task", "turns": says("open the file parser.py", "run the parser tests", "edit parser.py")}]
    request = {"request_id": "next", "text": "the parser file", "mode": "agent", "seen": {"session": "task", "turn": 1}}
    delivered(lake, tmp_path / "1", [{"history_id": "h", "sessions": steps, "requests": [request]}], "native")
    ran(lake)
    shown = slates_of(lake).explode("items").select(pl.col("items").struct.field("turn_index"))
    assert set(shown["turn_index"]) == {0, 1}


def chatgpt(*told: tuple[datetime, str]) -> dict:
    """A conversation of ChatGPT's export that began with its first message."""
    nodes = {}
    for at, (time, text) in enumerate(told):
        said = {
            "id": f"m{at}",
            "author": {"role": "assistant" if at % 2 else "user"},
            "create_time": time.timestamp(),
            "content": {"content_type": "text", "parts": [text]},
        }
        nodes[f"m{at}"] = {"parent": f"m{at - 1}" if at else None, "children": [], "message": said}
    began = told[0][0].timestamp()
    return {"conversation_id": "cake", "create_time": began, "current_node": f"m{len(told) - 1}", "mapping": nodes}


@pytest.mark.parametrize("exports", ["every", "last"])
def test_a_chat_that_went_on_days_later_stands_under_both_dates_and_is_not_seen_before(tmp_path, exports):
    november = [
        (datetime(2025, 11, 28, 22, 15, tzinfo=UTC), "Which cake keeps for a week?"),
        (datetime(2025, 11, 28, 22, 16, tzinfo=UTC), "A fruit cake keeps for a month."),
    ]
    december = [
        (datetime(2025, 12, 2, 9, 30, tzinfo=UTC), "The fruit cake is baked. How do I keep the cake?"),
        (datetime(2025, 12, 2, 9, 31, tzinfo=UTC), "Wrap the cake in foil."),
    ]
    lake = Lake.init(str(tmp_path / "lake"))
    if exports == "every":
        delivered(lake, tmp_path / "conversations.json", [chatgpt(*november)], "chatgpt")
    delivered(lake, tmp_path / "conversations.json", [chatgpt(*november, *december)], "chatgpt")
    asked = {"early": "2025-11-29T12:00:00Z", "late": "2025-12-03T12:00:00Z"}
    evidence = [{"session": "cake", "turn": "m0"}, {"session": "cake", "turn": "m3"}]
    requests = [
        {"request_id": name, "text": "What about the cake?", "asked_at": time, "evidence": evidence}
        for name, time in asked.items()
    ]
    delivered(lake, tmp_path / "known.jsonl", [{"history_id": "conversations", "requests": requests}], "native")
    ran(lake)
    slates = slates_of(lake).filter(policy="recall_order", budget=900)
    texts = dict(slates.select("request_id", "text").iter_rows())
    first = "# 28 November 2025, 22:15\nuser: Which cake keeps for a week?\nassistant: A fruit cake keeps for a month."
    second = (
        "# 2 December 2025, 09:30\nuser: The fruit cake is baked. How do I keep the cake?\n"
        "assistant: Wrap the cake in foil."
    )
    assert texts["early"] == first
    assert texts["late"] == f"{first}\n{second}"
    assert texts["cake#m2"] == first
    assert "Wrap" not in "".join(text for name, text in texts.items() if name != "late")
    measured, _ = evaluate(lake, "lexical", None, draws=200, seed=0)
    assert measured.with_unseen_evidence == 1


def test_a_request_with_evidence_that_it_cannot_see_is_counted_and_complete_under_no_policy(tmp_path):
    items = copy.deepcopy(ITEMS[:3])
    told = next(item for item in items if any("has_answer" in turn for s in item["haystack_sessions"] for turn in s))
    told["question_date"] = "1999/01/01 (Fri) 10:00"
    lake = stored(tmp_path, items)
    ran(lake)
    measured, about = evaluate(lake, "lexical", None, draws=200, seed=0)
    assert measured.with_unseen_evidence == 1
    assert about["requests_without_slate"] == 0
    shares = {(row.n, row.slate_completeness.value) for row in measured.rows if row.stratum == "all"}
    assert {n for n, _ in shares} == {3}
    assert max(share for _, share in shares) <= 2 / 3


def test_other_budgets_recompute_slates_only(tmp_path):
    lake = stored(tmp_path, ITEMS[:2])
    ran(lake)
    report, _ = ran(lake, override(LEXICAL, "500", None))
    assert {stage.name for stage in report.stages if stage.done} == {"slates", "oracle_slates"}


def test_evaluation_reads_one_run_and_refuses_it_once_its_files_have_changed(tmp_path):
    lake = stored(tmp_path, ITEMS)
    _, run_id = ran(lake)
    measured, about = evaluate(lake, "lexical", None, draws=200, seed=0)
    assert about["run_id"] == run_id
    by_policy = {(row.policy, row.budget): row for row in measured.rows if row.stratum == "all"}
    oracle, recall = by_policy["oracle", 2700], by_policy["recall_order", 2700]
    assert oracle.slate_completeness.value >= recall.slate_completeness.value > 0
    assert oracle.n + measured.left_out_no_evidence == measured.n_requests == len(ITEMS)
    ran(lake, override(LEXICAL, "500", None))
    with pytest.raises(SnapshotStale):
        evaluate(lake, "lexical", run_id, draws=200, seed=0)
    assert snapshot.latest(lake, "lexical").run_id != run_id


def test_a_source_of_another_format_leaves_no_claim_behind(tmp_path):
    lake = stored(tmp_path, ITEMS[:1])
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"neither": "format"}')
    with pytest.raises(IngestError):
        ingest(lake, str(wrong), "longmemeval", {})
    assert not delivered(lake, tmp_path / "again.json", ITEMS[1:2]).already


def test_ingesting_the_same_file_twice_is_a_no_op(tmp_path):
    lake = stored(tmp_path, ITEMS[:1])
    report = ingest(lake, str(tmp_path / "lake.json"), "longmemeval", {})
    assert report.already
    assert pl.read_parquet(f"{lake.url}/turns/*/*.parquet").height == report.counts["turns"]


def test_a_run_that_failed_is_not_evaluated(tmp_path, monkeypatch):
    lake = stored(tmp_path, ITEMS[:2])
    # Damaged pages under a whole footer: what a bad disk does, and no plan can see.
    damaged = min((tmp_path / "lake" / "turns").rglob("*.parquet"))
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:4] + b"\xff" * 400 + whole[404:])
    report, run_id = run(lake, LEXICAL, Resources(workers=1), None, None)
    assert report.exit_code == 1
    with pytest.raises(RunUnfinished):
        evaluate(lake, "lexical", run_id, draws=200, seed=0)

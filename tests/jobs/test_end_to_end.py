"""The whole path on generated histories with the profile that needs no model: real files, real Ray."""

from __future__ import annotations

import json
import random

import polars as pl
import pytest

from cluster import snapshot
from cluster.errors import SnapshotStale
from cluster.lake import Lake
from jobs.config import Profile, load_profile
from jobs.evaluate import RunUnfinished, evaluate
from jobs.ingest import ingest
from jobs.overrides import override
from jobs.run import Resources, run
from models.tokens import token_counter
from pipeline.ingest.errors import IngestError
from pipeline.synth.histories import history

pytestmark = pytest.mark.cluster
LEXICAL = load_profile("lexical")
ITEMS = [history(seed=1, index=index, sessions=6) for index in range(6)]
KEY = ["history_id", "request_id", "policy", "budget"]


def stored(folder, items, name="lake") -> Lake:
    source = folder / f"{name}.json"
    source.write_text(json.dumps(items))
    lake = Lake.init(str(folder / name))
    ingest(lake, str(source), "longmemeval", {})
    return lake


def slates_of(lake: Lake) -> pl.DataFrame:
    return pl.read_parquet(f"{lake.url}/*slates/profile=lexical/*/*.parquet", hive_partitioning=False).sort(KEY)


def ran(lake: Lake, profile: Profile = LEXICAL, workers: int = 1):
    report, run_id = run(lake, profile, Resources(workers=workers), None, None)
    assert report.exit_code == 0, report.failures
    return report, run_id


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Lake:
    lake = stored(tmp_path_factory.mktemp("made"), ITEMS)
    ran(lake, workers=2)
    return lake


def test_a_second_run_does_no_shard_and_starts_no_ray(made):
    report, _ = ran(made)
    assert {stage.done for stage in report.stages} == {0}
    assert not report.used_ray


def test_no_slate_is_over_its_budget_and_none_holds_another_history(made):
    slates = slates_of(made)
    counter = token_counter("o200k_base")
    assert slates.height == len(ITEMS) * 2 * 2
    assert counter.count_many(slates["text"].to_list()).tolist() == slates["n_tokens"].to_list()
    assert (slates["n_tokens"] <= slates["budget"]).all()
    said = {item["question_id"]: {turn["content"] for s in item["haystack_sessions"] for turn in s} for item in ITEMS}
    turns = pl.read_parquet(f"{made.url}/turns/*/*.parquet", hive_partitioning=False)
    shown = slates.explode("items").unnest("items", separator=".").rename(
        {"items.session_index": "session_index", "items.turn_index": "turn_index"}
    )  # fmt: skip
    texts = shown.join(turns, on=["history_id", "session_index", "turn_index"], how="inner")
    assert texts.height == shown.height > 0
    assert all(row["text_right"] in said[row["history_id"]] for row in texts.iter_rows(named=True))


def test_shuffled_histories_and_one_worker_give_equal_slates(made, tmp_path):
    shuffled = ITEMS.copy()
    random.Random(3).shuffle(shuffled)
    other = stored(tmp_path, shuffled)
    ran(other, workers=1)
    assert slates_of(other).equals(slates_of(made))


def test_sessions_that_come_later_change_no_byte_of_an_earlier_slate(made, tmp_path):
    grown = json.loads(json.dumps(ITEMS))
    for item, more in zip(grown, [history(seed=9, index=index, sessions=3) for index in range(6)], strict=True):
        item["haystack_sessions"] += more["haystack_sessions"]
        item["haystack_dates"] += [f"2031/0{month}/01 (Wed) 10:00" for month in (1, 2, 3)]
        item["haystack_session_ids"] += [f"later_{index}" for index in range(3)]
    for session in (session for item in grown for session in item["haystack_sessions"][6:]):
        for turn in session:
            turn.pop("has_answer", None)
    other = stored(tmp_path, grown)
    ran(other)
    assert slates_of(other).equals(slates_of(made))


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
    again = tmp_path / "again.json"
    again.write_text(json.dumps(ITEMS[1:2]))
    assert not ingest(lake, str(again), "longmemeval", {}).already


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

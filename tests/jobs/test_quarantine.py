"""`slatemill quarantine` on real lakes: what was lost is counted and shown, and what bisection took out comes back."""

from __future__ import annotations

import io
import json

import polars as pl
import pytest
from inside import ITEMS, LEXICAL, ran, said_by_main, stored
from rich.console import Console
from tiny_bert import tiny_bert

from cluster import quarantine, rayenv, shard
from cluster.batches import claim, committed
from cluster.errors import NoSuchStage
from cluster.exits import OVER_QUARANTINE
from cluster.lake import Lake
from cluster.plan import Plan, State
from jobs.config import Profile, load_profile
from jobs.graph import stages
from jobs.ingest import ingest
from jobs.plan import plan
from jobs.quarantine import Requeued, kept_aside, requeue, rows_aside
from jobs.quarantine_report import show_groups, show_requeued, show_rows
from jobs.run import Resources, run
from models.finetune import FinetuneParams
from models.tuned_encoder import OF_ALL, save_tuned
from models.windowed import WindowedConfig
from pipeline import schemas

SAID = [{"role": "user", "text": "ada moved to Rome"}]
LINES = [
    json.dumps({"history_id": "ada", "sessions": [{"session_id": "s", "time": "2024-01-01", "turns": SAID}]}),
    json.dumps({"history_id": "bob", "sessions": [{"session_id": "s", "time": "lately \x1b[31m", "turns": SAID}]}),
    json.dumps({"history_id": "eve", "sessions": [{"session_id": "s", "time": "of late", "turns": SAID}]}),
    "{no json",
    json.dumps(
        {
            "history_id": "joe",
            "sessions": [{"session_id": "s", "turns": SAID}],
            "requests": [{"request_id": "r", "text": "Rome?", "evidence": [{"session": "s", "turn": 7}]}],
        }
    ),
]


@pytest.fixture(scope="module")
def lossy(tmp_path_factory) -> Lake:
    """A lake that lost what could not be read."""
    folder = tmp_path_factory.mktemp("lossy")
    lake = Lake.init(str(folder / "lake"))
    (folder / "lines.jsonl").write_text("".join(line + "\n" for line in LINES))
    ingest(lake, str(folder / "lines.jsonl"), "native", {})
    return lake


def shown(show, *arguments) -> str:
    target = io.StringIO()
    show(*arguments, Console(file=target, width=80))
    text = target.getvalue()
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "\x1b" not in text
    return text


def taken_out(lake: Lake, stage: str, positions: tuple[int, ...]) -> str:
    """Takes units of a stage's first shard with rows out, as bisection does; returns the path of its quarantine."""
    made = Plan(lake, stages(LEXICAL, lake.tokenizer), committed(lake))
    key = next(key for key in made.shards(State.DONE) if made.stage(key).name == stage and made.standings[key].rows)
    work = made.work(key)
    shard.take_out(made.stage(key), lake.storage, work, lambda: None, positions, "kills its worker")
    return work.quarantine


@pytest.mark.flash
def test_counts_and_rows_are_those_of_the_files(lossy):
    files = pl.read_parquet(f"{lossy.url}/quarantine/ingest/*/*.parquet", hive_partitioning=False)
    groups = kept_aside(lossy)
    assert sum(group.rows for group in groups) == files.height
    assert sum(group.lost for group in groups) == files["weight"].sum()
    assert {(group.stage, group.choice) for group in groups} == {("ingest", "")}
    assert {group.code for group in groups} == set(files["code"]) == {"bad_time", "not_json", "citation"}
    rows = rows_aside(lossy)
    assert rows.select(schemas.QUARANTINE.names).sort("code", "reason").equals(files.sort("code", "reason"))
    assert rows_aside(lossy, code="bad_time")["history_id"].sort().to_list() == ["bob", "eve"]
    assert rows_aside(lossy, stage="pools").height == 0
    assert kept_aside(lossy, "ingest", LEXICAL) == groups


@pytest.mark.flash
def test_what_is_printed_fits_the_terminal_and_names_place_and_reason(lossy):
    groups = shown(show_groups, kept_aside(lossy))
    for said in ("bad_time", "not_json", "citation", "ingest"):
        assert said in groups
    rows = rows_aside(lossy)
    text = " ".join(shown(show_rows, rows, rows.height).split())
    for said in ("lines.jsonl", "history bob", "request r", "a note: nothing is lost"):
        assert said in text
    assert f"1 of {rows.height} rows" in shown(show_rows, rows.head(1), rows.height)
    assert "nothing is in quarantine" in shown(show_groups, [])
    assert "nothing of it" in shown(show_rows, rows.head(0), 0)


@pytest.mark.flash
def test_many_reasons_of_one_code_are_counted_after_the_first_few(tmp_path):
    lake = Lake.init(str(tmp_path / "lake"))
    lines = [
        json.dumps({"history_id": f"h{n}", "sessions": [{"time": f"day {n} of spring", "turns": SAID}]})
        for n in range(14)
    ]
    (tmp_path / "lines.jsonl").write_text("".join(line + "\n" for line in lines))
    ingest(lake, str(tmp_path / "lines.jsonl"), "native", {})
    groups = kept_aside(lake)
    assert len(groups) == 14
    assert "... 4 more reasons" in shown(show_groups, groups)


@pytest.mark.flash
def test_json_is_all_that_is_written_and_mistakes_end_with_code_2(lossy, monkeypatch, capsys):
    code, out, err = said_by_main(monkeypatch, capsys, "quarantine", "list", lossy.url, "--json")
    assert (code, json.loads(out), err) == (0, [group.as_dict() for group in kept_aside(lossy)], "")
    arguments = ("show", lossy.url, "--stage", "ingest", "--code", "bad_time", "--limit", "1", "--json")
    code, out, err = said_by_main(monkeypatch, capsys, "quarantine", *arguments)
    assert (code, json.loads(out), err) == (0, rows_aside(lossy, "ingest", "bad_time").head(1).to_dicts(), "")
    arguments = ("requeue", lossy.url, "--stage", "pools", "--profile", "lexical", "--json")
    code, out, err = said_by_main(monkeypatch, capsys, "quarantine", *arguments)
    assert (code, json.loads(out), err) == (0, requeue(lossy, LEXICAL, "pools").as_dict(), "")
    for arguments, named in (
        (("list", lossy.url, "--stage", "../turns"), "no stage '../turns'"),
        (("show", lossy.url, "--stage", "vectors"), "no stage 'vectors'"),
        (("requeue", lossy.url, "--stage", "ingest"), "mend the source, and ingest it again"),
        (("requeue", lossy.url, "--stage", "turn_vectors", "--profile", "lexical"), "has no stage turn_vectors"),
    ):
        code, out, err = said_by_main(monkeypatch, capsys, "quarantine", *arguments)
        assert (code, out) == (2, "")
        assert named in err.replace("\n", " ")


@pytest.mark.flash
def test_rows_of_a_batch_that_is_not_committed_are_not_shown(tmp_path):
    lake = stored(tmp_path, ITEMS[:1])
    held = claim(lake, "f" * 64)
    stage = stages(LEXICAL, lake.tokenizer)[0]
    units = pl.DataFrame({"history_id": ["h"], "session_index": [1], "turn_index": [1], "weight": [1]})
    rows = quarantine.crash_rows(units, stage, "it kills")
    quarantine.replace(lake.storage, lake.quarantine_path("terms", 0, held.name, stage.choice), rows, stage, "s")
    assert kept_aside(lake) == []


@pytest.mark.cluster
def test_what_bisection_took_out_is_taken_back_in_and_computed_by_the_next_run(tmp_path):
    lake = stored(tmp_path, ITEMS[:3])
    with rayenv.session(workers=1):
        ran(lake)
        whole = pl.read_parquet(f"{lake.url}/pools/*/*/*.parquet", hive_partitioning=False)
        path = taken_out(lake, "pools", (0,))
        report, _ = run(lake, LEXICAL, Resources(workers=1), None, None)
        assert report.exit_code == OVER_QUARANTINE
        assert {stage.name: stage.quarantined for stage in report.stages}["pools"] == 1
        lacking = pl.read_parquet(f"{lake.url}/pools/*/*/*.parquet", hive_partitioning=False)
        assert lacking["request_id"].n_unique() == whole["request_id"].n_unique() - 1
        (group,) = kept_aside(lake, "pools", LEXICAL)
        assert (group.choice, group.code, group.rows, group.lost) == ("profile=lexical", "crash", 1, 1)
        assert kept_aside(lake, "pools", LEXICAL.model_copy(update={"name": "other"})) == []
        other = LEXICAL.model_copy(update={"name": "other"})
        assert requeue(lake, other, "pools") == Requeued("pools", 0, 0, False)

        assert requeue(lake, LEXICAL, "pools") == Requeued("pools", 1, 1, False)
        assert not lake.storage.exists(path)
        causes = [reason.cause for stage in plan(lake, LEXICAL, None).stages for _, why in stage.why for reason in why]
        assert causes[0] == "quarantine"
        ran(lake)
        again = pl.read_parquet(f"{lake.url}/pools/*/*/*.parquet", hive_partitioning=False)
        assert again.sort(pl.all()).equals(whole.sort(pl.all()))
    assert requeue(lake, LEXICAL, "pools").units == 0


@pytest.mark.flash
@pytest.mark.parametrize("stage_name", ["tuned_turn_tokens", "tuned_request_tokens", "turn_tokens"])
def test_what_bisection_took_out_of_a_stage_of_either_encoder_is_listed_and_taken_back_in(tmp_path, stage_name):
    model = tiny_bert(tmp_path / "tiny")
    encoder = tmp_path / "encoder"
    save_tuned(encoder, WindowedConfig(str(model), 32), FinetuneParams(), {OF_ALL: {}}, {}, {})
    late = {"model": str(model), "max_tokens": 32, "tuned": str(encoder)}
    recall = {"channels": ["bm25", "late_interaction", "tuned_interaction"]}
    profile = Profile.model_validate({"name": "both", "embedder": None, "late_interaction": late, "recall": recall})
    lake = stored(tmp_path, ITEMS[:1])
    (stage,) = [stage for stage in stages(profile, lake.tokenizer) if stage.name == stage_name]
    (batch,) = committed(lake)
    of_unit = {"history_id": "h", "session_index": 1, "turn_index": 1, "request_id": "r"}
    units = pl.DataFrame({**{name: [of_unit[name]] for name in stage.unit}, "weight": [1]})
    path = lake.quarantine_path(stage_name, batch.buckets[0], batch.name, stage.choice)
    quarantine.replace(lake.storage, path, quarantine.crash_rows(units, stage, "it kills"), stage, "s")
    (group,) = kept_aside(lake, stage_name, profile)
    assert (group.stage, group.choice, group.code) == (stage_name, "=".join(stage.choice), "crash")
    assert requeue(lake, profile, stage_name) == Requeued(stage_name, 1, 1, stage_name.endswith("turn_tokens"))
    assert kept_aside(lake, stage_name) == []


@pytest.mark.cluster
def test_what_a_stage_refused_itself_stays(tmp_path):
    lake = stored(tmp_path, ITEMS[:1])
    with rayenv.session(workers=1):
        ran(lake)
    path = taken_out(lake, "terms", (0, 1))
    stage = stages(LEXICAL, lake.tokenizer)[0]
    rows = quarantine.read(lake.storage, path, stage)
    mixed = rows.set_column(rows.schema.get_field_index("origin"), "origin", [["crash", "row"]]).cast(rows.schema)
    quarantine.replace(lake.storage, path, mixed, stage, "s")
    taken = requeue(lake, LEXICAL, "terms")
    assert taken == Requeued("terms", 1, 1, False)
    assert quarantine.read(lake.storage, path, stage)["origin"].to_pylist() == ["row"]
    assert "slatemill run" in shown(show_requeued, taken, "slatemill run L")


@pytest.mark.flash
def test_the_run_that_computes_a_costly_stage_anew_names_it():
    costly = Requeued("turn_vectors", 2, 1, costly=True)
    assert "slatemill run L --backfill turn_vectors" in shown(show_requeued, costly, "slatemill run L")
    assert "no unit" in shown(show_requeued, Requeued("pools", 0, 0, False), "slatemill run L")


@pytest.mark.flash
def test_a_profile_whose_only_policy_is_the_rankers_has_its_stage_of_slates(tmp_path):
    lake = stored(tmp_path, ITEMS[:1])
    slates = LEXICAL.slates.model_copy(update={"policies": ("lambdarank",)})
    assert requeue(lake, LEXICAL.model_copy(update={"slates": slates}), "slates").units == 0
    with pytest.raises(NoSuchStage, match=r"it has terms, turn_vectors, request_vectors, pools, .*oracle_slates"):
        requeue(lake, load_profile("agentmemrec"), "nothing")

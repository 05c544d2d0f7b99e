"""`slatemill status` on real lakes: what is done and what is not, the last run, and what is under way elsewhere."""

from __future__ import annotations

import io
import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from inside import ITEMS, LEXICAL, contents, delivered, ran, said_by_main, stored
from lakes import Shell
from rich.console import Console

from cluster import rayenv, snapshot
from cluster.batches import claim
from cluster.forecast import Outlook
from cluster.heartbeat import DEAD_AFTER_S, Heartbeat
from cluster.lake import Lake
from cluster.report import Failure, StageReport
from jobs.overrides import override
from jobs.plan import plan
from jobs.run import Resources, run
from jobs.status import Status, status
from jobs.status_report import show_status
from pipeline.synth.histories import history


def printed(found: Status) -> str:
    target = io.StringIO()
    show_status(found, "lexical", Console(file=target, width=80))
    assert max(len(line) for line in target.getvalue().splitlines()) <= 80
    return target.getvalue()


def columns(found: Status) -> dict[str, tuple[int, ...]]:
    """done, stale, missing, waiting of each stage; together they are all its shards."""
    counted = {stage.stage: (stage.done, stage.stale, stage.missing, stage.waiting) for stage in found.stages}
    assert {stage.stage: stage.shards for stage in found.stages} == {name: sum(row) for name, row in counted.items()}
    return counted


def beaten(lake: Lake, run_id: str, ago_s: float, profile: str = "lexical") -> None:
    """Leaves the beat of a run that had done half of its pools, so many seconds ago."""
    stage = StageReport("pools", total=4)
    times = iter([datetime.now(UTC) - timedelta(seconds=ago_s)] * 9)
    progress = Heartbeat(lake.storage, run_id, profile, now=lambda: next(times))
    progress.start([stage])
    progress.update(stage)
    stage.done = 2
    progress._beat()


@pytest.mark.cluster
def test_stages_are_counted_as_they_stand_and_nothing_is_written(tmp_path):
    lake = stored(tmp_path, ITEMS[:3])
    n = len({int(bucket) for bucket in lake.bucket_of([item["question_id"] for item in ITEMS[:3]])})
    before = contents(lake)
    new = status(lake, LEXICAL, None)
    assert contents(lake) == before
    assert set(columns(new).values()) == {(0, 0, n, 0)}
    assert (new.last_run, new.live, new.claims, new.notes) == (None, [], [], ())
    assert "no run" in printed(new)
    with rayenv.session(workers=2):
        _, run_id = ran(lake)
        done = status(lake, LEXICAL, None)
        assert set(columns(done).values()) == {(n, 0, 0, 0)}
        assert (done.last_run.run_id, done.last_run.exit_code, done.live) == (run_id, 0, [])
        assert f"last run {run_id}" in printed(done)

        smaller = LEXICAL.model_copy(update={"recall": LEXICAL.recall.model_copy(update={"pool_size": 6})})
        changed = status(lake, override(smaller, "500", None), None)
        assert columns(changed) == {
            "terms": (n, 0, 0, 0),
            "pools": (0, n, 0, 0),
            "features": (0, 0, 0, n),
            "slates": (0, n, 0, 0),
            "oracle_slates": (0, n, 0, 0),
        }
        assert changed.notes == (
            "the last run had other options than the profile has now: recall.pool_size, slates.budgets",
        )
        assert plan(lake, LEXICAL, None).shards(Outlook.DO, Outlook.FOLLOW) == 0

        delivered(lake, tmp_path / "later.json", [history(seed=9, index=0, sessions=2)])
        assert set(columns(status(lake, LEXICAL, None)).values()) == {(n, 0, 1, 0)}


@pytest.mark.cluster
def test_what_failed_in_the_last_run_is_counted_and_its_code_said(tmp_path):
    lake = stored(tmp_path, ITEMS[:3])
    broken = sorted(Path(lake.url).glob("turns/*/*.parquet"))[0]
    whole = broken.read_bytes()
    broken.write_bytes(whole[:4] + b"\xff" * 400 + whole[404:])
    report, _ = run(lake, LEXICAL, Resources(workers=1), None, None)
    assert report.exit_code == 1
    found = status(lake, LEXICAL, None)
    assert {stage.stage: stage.failed for stage in found.stages} == {
        stage.name: stage.failed for stage in report.stages
    }
    assert sum(stage.failed for stage in found.stages) > 0
    assert list(found.failures) == list(report.failures)
    (failure, *_) = report.failures
    bucket = int(broken.parent.name.removeprefix("bucket=b"))
    assert (failure.stage, failure.batch, failure.bucket) == ("terms", broken.stem, bucket)
    assert failure.detail
    text = " ".join(printed(found).split())
    assert "exit code 1 (failed shards)" in text
    assert f"failed: terms, batch {broken.stem}, bucket {bucket}: OSError: " in text
    assert "shard(s) to do" in text
    broken.write_bytes(whole)
    ran(lake)
    mended = status(lake, LEXICAL, None)
    assert (mended.failures, mended.as_dict()["last_run"]["failed"]) == ([], 0)
    assert "failed:" not in printed(mended)


@pytest.mark.flash
def test_of_many_failures_the_first_are_told_in_a_line_each_and_all_are_kept(tmp_path):
    lake = stored(tmp_path, ITEMS[:1])
    reason = "LakeError: \x1b[31mit has another schema.\nDifferences:\n  text: found large_binary"
    failures = [Failure("pools", "000001-a", bucket, reason, "a traceback") for bucket in range(9)]
    started = datetime.now(UTC)
    files = snapshot.FILES.empty_table()
    taken = snapshot.Snapshot("r1", "lexical", started, started, 1, {}, {}, {"pools": {"failed": 9}}, {}, files)
    snapshot.write(lake, taken, failures)
    found = status(lake, LEXICAL, None)
    lines = [line.rstrip() for line in printed(found).splitlines() if line.startswith("failed: ")]
    assert lines[:-1] == [
        f"failed: pools, batch 000001-a, bucket {bucket}: LakeError:  [31mit has another schema." for bucket in range(5)
    ]
    assert "Differences" not in printed(found)
    assert lines[-1].startswith("failed: 4 more, with reasons and tracebacks in")
    assert "runs/r1/failures.parquet" in printed(found)
    told = found.as_dict()["last_run"]
    assert (told["failed"], [row["bucket"] for row in told["failures"]]) == (9, list(range(5)))
    assert told["failures"][0]["reason"] == reason
    assert pl.read_parquet(f"{lake.url}/runs/r1/failures.parquet").height == 9


@pytest.mark.flash
def test_a_run_under_way_is_shown_with_its_pace_and_a_dead_one_as_dead(tmp_path):
    lake = stored(tmp_path, ITEMS[:1])
    beaten(lake, "20260101T000000000000-aaaaaaaa", DEAD_AFTER_S + 60, "other")
    beaten(lake, "20260101T000000000001-bbbbbbbb", 1)
    dead, alive = status(lake, LEXICAL, None).as_dict()["live"]
    assert (dead["dead"], dead["profile"], alive["dead"], alive["profile"]) == (True, "other", False, "lexical")
    (pools,) = alive["stages"]
    assert (pools["done"], pools["total"], pools["rate"] > 0, pools["left"] > 0) == (2, 4, True, True)
    text = " ".join(printed(status(lake, LEXICAL, None)).split())
    assert "run 20260101T000000000000-aaaaaaaa of profile other is dead" in text
    assert "2 minutes ago" in text
    assert "of profile lexical is under way" in text


@pytest.mark.cluster
def test_a_dead_run_is_forgotten_once_a_later_one_of_its_profile_has_ended(tmp_path):
    lake = stored(tmp_path, ITEMS[:1])
    with rayenv.session(workers=1):
        ran(lake)
        beaten(lake, "20260101T000000000000-aaaaaaaa", DEAD_AFTER_S + 60)
        assert status(lake, LEXICAL, None).live == []
        beaten(lake, "99990101T000000000000-bbbbbbbb", DEAD_AFTER_S + 60)
        assert [beat.run_id[:4] for beat in status(lake, LEXICAL, None).live] == ["9999"]
        delivered(lake, tmp_path / "later.json", [history(seed=9, index=0, sessions=2)])
        ran(lake)
    assert list(Path(lake.url, "runs", "live").glob("*.json")) == []


@pytest.mark.cluster
def test_a_run_in_another_process_is_seen_while_it_runs_and_is_the_last_run_afterwards(shell: Shell):
    folder, _ = shell.stored("lake", histories=24, sessions=6, seed=5)
    lake = Lake.open(str(folder))
    started = shell.start("run", folder, "--profile", "lexical", "--workers", "1")
    seen: list[dict] = []
    while started.process.poll() is None:
        seen += status(lake, LEXICAL, None).as_dict()["live"]
        time.sleep(0.1)
    assert started.process.returncode == 0, (started.traces / "said").read_text()
    after = status(lake, LEXICAL, None)
    assert seen
    assert {beat["run_id"] for beat in seen} == {after.last_run.run_id}
    assert not any(beat["dead"] for beat in seen)
    assert {stage["name"]: stage["total"] for stage in seen[-1]["stages"]} == {
        stage.stage: stage.shards for stage in after.stages
    }
    assert after.live == []
    assert {stage.stage: stage.done for stage in after.stages} == {stage.stage: stage.shards for stage in after.stages}


@pytest.mark.cluster
def test_a_run_ends_well_where_its_beat_cannot_be_written(tmp_path):
    lake = stored(tmp_path, ITEMS[:1])
    Path(lake.url, "runs").mkdir()
    Path(lake.url, "runs", "live").write_text("in the way")
    ran(lake)


@pytest.mark.flash
def test_an_uncommitted_claim_is_said_with_what_to_do(tmp_path):
    lake = stored(tmp_path, ITEMS[:1])
    held = claim(lake, "f" * 64)
    found = status(lake, LEXICAL, None)
    ((shown, since),) = found.claims
    assert (shown, since <= found.now) == (held, True)
    text = " ".join(printed(found).split())
    assert f"batch {held.name} was claimed" in text
    assert "or drop it with `slatemill ingest" in text
    assert "--void`" in text


@pytest.mark.flash
def test_what_ingest_lost_is_counted(tmp_path):
    said = [{"role": "user", "text": "ada moved to Rome"}]
    good, bad = ({"history_id": "ada", "sessions": [{"time": when, "turns": said}]} for when in ("2024-01-01", "once"))
    found = status(stored(tmp_path, [good, bad], "native"), LEXICAL, None)
    assert found.lost_by_ingest == 1
    assert "ingest: 1 row(s) in quarantine" in printed(found)


@pytest.mark.flash
def test_json_is_all_that_is_written_and_mistakes_end_with_code_2(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    lake = stored(tmp_path, ITEMS[:1])
    beaten(lake, "20260101T000000000000-aaaaaaaa", 1)
    capsys.readouterr()
    code, out, err = said_by_main(monkeypatch, capsys, "status", lake.url, "--profile", "lexical", "--json")
    told, known = json.loads(out), status(lake, LEXICAL, None).as_dict()
    assert (code, {**told, "now": ""}) == (0, {**known, "now": ""})
    assert "no slates of policy lambdarank" in err
    code, out, err = said_by_main(monkeypatch, capsys, "status", str(tmp_path / "nowhere"), "--profile", "lexical")
    assert (code, out) == (2, "")
    assert "slatemill init" in err.replace("\n", " ")

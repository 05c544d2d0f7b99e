from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import pytest
import ray
import toy_stages
from toy_stages import Behaviour, Recorder, Shift, arrive, contents, quarantined, run, stages

from cluster import executor, rayenv
from cluster.batches import committed
from cluster.report import RunReport

pytestmark = pytest.mark.cluster

HERE = Path(__file__).parent


def counts(report: RunReport, count: str) -> list[int]:
    return [getattr(stage, count) for stage in report.stages]


def settled(report: RunReport) -> None:
    """Nothing is left undecided, and no count is made twice."""
    assert counts(report, "open") == [0] * len(report.stages)


@pytest.fixture
def no_ray(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Called in the middle of a test: from then on, a run that asks for Ray fails the test."""

    def refuse(*_: object) -> None:
        pytest.fail("a run with nothing to do asked for Ray")

    return lambda: monkeypatch.setattr(rayenv, "session", refuse)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No retries of Ray's own, because each costs a new worker."""
    monkeypatch.setattr(executor, "RUN_RETRIES", 0)
    monkeypatch.setattr(executor, "PROBE_RETRIES", 0)


def test_first_run_does_all_and_second_does_none_without_ray(local_ray, toy_lake, no_ray):
    first = run(toy_lake, stages())
    assert (first.exit_code, counts(first, "done"), counts(first, "reused")) == (0, [5] * 4, [0] * 4)
    assert first.used_ray
    # A request of the second batch sees the history's numbers of both.
    found = contents(toy_lake)
    name = committed(toy_lake)[1].name
    assert found[f"sums/profile=toy/bucket=b0002/{name}.parquet"][0] == {
        "history_id": "h2-0",
        "total": sum(3 * n + 100 for n in (200, 201, 202, 1200, 1201, 1202)),
    }
    no_ray()
    second = run(toy_lake, stages())
    assert (second.exit_code, counts(second, "done"), counts(second, "reused")) == (0, [0] * 4, [5] * 4)
    assert not second.used_ray
    assert contents(toy_lake) == found


def test_files_of_a_run_are_listed_with_the_marks_that_the_next_run_finds(local_ray, toy_lake):
    first, second = run(toy_lake, stages()), run(toy_lake, stages())
    roles = first.files.group_by("role").aggregate([([], "count_all")]).sort_by("role").to_pylist()
    assert roles == [{"role": "read", "count_all": 5}, {"role": "written", "count_all": 20}]
    same = ["path", "stage", "table", "bucket", "batch", "stamp", "digest", "rows", "quarantined"]
    assert first.files.select(same).equals(second.files.select(same))
    assert set(second.files["role"].to_pylist()) == {"read", "reused"}


def test_a_new_batch_adds_its_shards_and_leaves_earlier_ones(local_ray, toy_lake):
    run(toy_lake, stages())
    before = contents(toy_lake)
    arrive(toy_lake, "f" * 64, (1, 3), 5000)
    report = run(toy_lake, stages())
    assert (counts(report, "done"), counts(report, "reused")) == ([2] * 4, [5] * 4)
    assert before.items() <= contents(toy_lake).items()


def test_as_of_latest_makes_earlier_requests_follow_later_arrivals(local_ray, toy_lake):
    run(toy_lake, stages(span="all"))
    arrive(toy_lake, "f" * 64, (1, 3), 5000)
    report = run(toy_lake, stages(span="all"))
    # Bucket 1 was touched by one earlier batch: its sums are redone, nothing else is.
    assert (counts(report, "done"), counts(report, "reused")) == ([2, 2, 3, 3], [5, 5, 4, 4])


def test_config_of_the_last_stage_recomputes_that_stage_only(local_ray, toy_lake):
    run(toy_lake, stages())
    report = run(toy_lake, stages(plus=7))
    assert (counts(report, "done"), counts(report, "reused")) == ([0, 0, 0, 5], [5, 5, 5, 0])


def test_version_of_a_stage_makes_stale_what_lies_below_it(local_ray, toy_lake):
    run(toy_lake, stages())
    report = run(toy_lake, stages(factor=3))
    assert (counts(report, "done"), counts(report, "reused")) == ([5, 0, 5, 5], [0, 5, 0, 0])


def test_output_that_comes_out_the_same_leaves_what_lies_below_it(local_ray, toy_lake):
    run(toy_lake, stages())
    report = run(toy_lake, stages(version=2))
    assert (counts(report, "done"), counts(report, "reused")) == ([5, 0, 0, 0], [0, 5, 5, 5])


def test_another_model_needs_backfill_and_then_lies_beside_the_first(local_ray, toy_lake):
    run(toy_lake, stages())
    before = contents(toy_lake)
    other = stages(model="two", shift=Shift(200))
    report = run(toy_lake, other)
    assert report.exit_code == 2
    assert counts(report, "needs_backfill") == [0, 5, 0, 0]
    assert (counts(report, "stale"), counts(report, "blocked")) == ([0] * 4, [0, 0, 5, 5])
    assert contents(toy_lake) == before
    report = run(toy_lake, other, backfill=["vectors"])
    assert (report.exit_code, counts(report, "done")) == (0, [0, 5, 5, 5])
    assert {path.split("/")[1] for path in contents(toy_lake) if path.startswith("vectors")} == {
        "model=one",
        "model=two",
    }


def test_new_arrivals_are_done_with_a_new_model_and_old_ones_wait_for_backfill(local_ray, toy_lake):
    run(toy_lake, stages())
    arrive(toy_lake, "f" * 64, (3,), 5000)
    report = run(toy_lake, stages(model="two", shift=Shift(200)))
    assert (report.exit_code, counts(report, "done"), counts(report, "blocked")) == (2, [1, 1, 1, 1], [0, 0, 5, 5])


def test_a_stale_costly_shard_is_not_redone_unasked(local_ray, toy_lake):
    run(toy_lake, stages())
    changed = stages(shift=Shift(300))
    report = run(toy_lake, changed)
    assert (report.exit_code, counts(report, "needs_backfill"), counts(report, "done")) == (2, [0, 5, 0, 0], [0] * 4)
    assert counts(report, "stale") == [0, 5, 0, 0]
    assert counts(run(toy_lake, changed, backfill=["vectors"]), "done") == [0, 5, 5, 5]


def test_a_shard_that_raises_leaves_the_others(local_ray, toy_lake):
    report = run(toy_lake, stages(double=Behaviour(raise_on=(201,))))
    assert report.exit_code == 1
    [failure] = report.failures
    assert (failure.stage, failure.bucket, failure.reason) == ("double", 2, "ValueError: number 201 is not wanted")
    assert "misbehave" in failure.detail
    # Both batches' sums of bucket 2 read the failed shard.
    assert counts(report, "done") == [4, 5, 3, 3]
    assert counts(report, "blocked") == [0, 0, 2, 2]
    settled(report)
    assert (run(toy_lake, stages()).exit_code, len(contents(toy_lake))) == (0, 20)


@pytest.mark.parametrize("stage", ["double", "vectors"])
def test_units_that_kill_their_worker_are_found_and_quarantined(local_ray, toy_lake, stage, no_ray):
    deadly = stages(**{stage: Behaviour(exit_on=(1, 202))})
    report = run(toy_lake, deadly, quarantine_limit=0.1)
    assert (report.exit_code, counts(report, "done")) == (0, [5] * 4)
    assert [(row["history_id"], row["n"], row["origin"], row["weight"]) for row in quarantined(toy_lake)] == [
        ("h0-0", 1, "crash", 1),
        ("h2-0", 202, "crash", 1),
    ]
    assert sum(counts(report, "quarantined")) == 2
    name = committed(toy_lake)[0].name
    kept = [path for path in contents(toy_lake) if path.startswith(stage) and name in path and "b0000" in path]
    assert [row["n"] for row in contents(toy_lake)[kept[0]]] == [0, 2, 3, 4, 5]
    no_ray()
    again = run(toy_lake, deadly)
    assert (again.exit_code, sum(counts(again, "reused"))) == (3, 20)
    assert again.files.filter(again.files["quarantined"].to_numpy() > 0).num_rows == 2


def test_crashed_and_refused_rows_share_a_file_and_refused_ones_leave_with_their_reason(local_ray, impatient, toy_lake):
    run(toy_lake, stages(double=Behaviour(exit_on=(1,), refuse=(2, 201))))
    assert sorted((row["n"], row["origin"]) for row in quarantined(toy_lake)) == [
        (1, "crash"),
        (2, "row"),
        (201, "row"),
    ]
    run(toy_lake, stages(version=2))
    assert [(row["n"], row["origin"]) for row in quarantined(toy_lake)] == [(1, "crash")]


def test_quarantine_over_the_limit_is_exit_code_3_as_long_as_it_is_there(local_ray, toy_lake):
    refusing = stages(double=Behaviour(refuse=(2,)))
    report = run(toy_lake, refusing, quarantine_limit=0.05)
    assert (report.exit_code, report.stages[0].quarantined, report.stages[0].rows) == (0, 1, 30)
    report = run(toy_lake, refusing, quarantine_limit=0.01)
    assert (report.exit_code, report.over_quarantine, report.used_ray) == (3, ["double"], False)


def test_many_deadly_units_are_a_fault_of_the_stage(local_ray, impatient, tmp_path):
    opened = toy_stages.lake(tmp_path / "one", [(0,)])
    report = run(opened, toy_stages.only("double", stages(double=Behaviour(exit_on=tuple(range(6))))))
    [failure] = report.failures
    assert "more than 4 of its units kill their worker" in failure.reason
    assert not quarantined(opened)


def test_a_shard_that_dies_only_as_a_whole_fails_after_some_tries(local_ray, impatient, tmp_path):
    opened = toy_stages.lake(tmp_path / "one", [(0,)])
    report = run(opened, toy_stages.only("double", stages(double=Behaviour(exit_when_more_than=3))))
    [failure] = report.failures
    assert "as a whole" in failure.reason
    assert (report.exit_code, counts(report, "open")) == (1, [0])
    assert not quarantined(opened)


@pytest.mark.parametrize(
    ("fails", "said"), [("exit", "before a row is computed"), ("no weights here", "no weights here")]
)
def test_a_model_that_cannot_be_loaded_is_blamed_on_no_row(local_ray, tmp_path, fails, said):
    opened = toy_stages.lake(tmp_path / "one", [(1,)])
    report = run(opened, toy_stages.only("vectors", stages(shift=Shift(1, fails=fails))))
    assert said in report.failures[0].reason
    assert not quarantined(opened)


def test_a_model_that_needs_a_gpu_says_so_where_there_is_none(local_ray, toy_lake):
    report = run(toy_lake, stages(gpus=1))
    assert {failure.reason for failure in report.failures} == {"model one needs 1 GPU, the cluster has 0"}
    assert (counts(report, "done"), counts(report, "blocked")) == ([5, 0, 0, 0], [0, 0, 5, 5])


@pytest.mark.parametrize("spec", [{"gpus": 1, "else_cpu": True}, {"most": 1}])
def test_a_model_that_takes_a_machine_or_may_stand_once_is_held_once(local_ray, toy_lake, tmp_path, spec):
    path = stages(vectors=Behaviour(sleep_s=0.2, once=str(tmp_path)), shift=Shift(100, log=str(tmp_path)))
    assert path[1].model is not None
    path[1] = replace(path[1], model=replace(path[1].model, **spec))
    report = run(toy_lake, path)
    assert (report.exit_code, counts(report, "done")) == (0, [5] * 4)
    assert len(list(tmp_path.glob("loaded-*"))) == 1
    assert report.gpu_seconds == 0


def test_empty_shards_load_no_model(local_ray, tmp_path):
    opened = toy_stages.lake(tmp_path / "empty", [(0, 1)], rows=0)
    report = run(opened, stages(shift=Shift(1, fails="there is nothing to compute")))
    assert (report.exit_code, counts(report, "done")) == (0, [2] * 4)
    assert set(map(len, contents(opened).values())) == {0}


@pytest.mark.parametrize("stage", ["double", "vectors"])
def test_a_worker_killed_in_mid_shard_costs_nothing(local_ray, tmp_path, toy_lake, stage):
    behaviour = Behaviour(hang_once_on=(101,), once=str(tmp_path))
    killer = threading.Thread(target=_kill_who_hangs, args=(tmp_path,))
    killer.start()
    report = run(toy_lake, stages(**{stage: behaviour}))
    killer.join()
    assert (report.exit_code, counts(report, "done")) == (0, [5] * 4)
    assert not quarantined(toy_lake)
    undisturbed = toy_stages.lake(tmp_path / "other", [(0, 1, 2), (0, 2)])
    run(undisturbed, stages())
    assert contents(toy_lake) == contents(undisturbed)


def _kill_who_hangs(folder: Path) -> None:
    while not (folder / "once-101").exists():
        time.sleep(0.05)
    [mark] = folder.glob("once-101-*")
    os.kill(int(mark.name.rsplit("-", 1)[1]), signal.SIGKILL)


@pytest.mark.parametrize("stage", ["double", "vectors"])
def test_a_shard_that_hangs_is_submitted_again_at_its_deadline(local_ray, tmp_path, toy_lake, stage):
    behaviour = Behaviour(hang_once_on=(101,), once=str(tmp_path))
    report = run(toy_lake, toy_stages.only(stage, stages(**{stage: behaviour})), deadline_s=6)
    assert (report.exit_code, counts(report, "done")) == (0, [5])
    assert report.seconds < 60


def test_a_shard_that_hangs_for_ever_fails_and_the_others_are_done(local_ray, toy_lake, tmp_path):
    behaviour = Behaviour(sleep_s=30, once=str(tmp_path))
    base = stages()[0]
    slow = toy_stages.renamed(base, "slow", "b", behaviour)
    report = run(toy_lake, [base, replace(slow, inputs={"events": base.inputs["events"]})], deadline_s=2, workers=5)
    assert (report.exit_code, counts(report, "done"), counts(report, "failed")) == (1, [5, 0], [0, 5])
    assert report.failures[0].reason == "not done within 2 s, tried 3 times"


@pytest.mark.parametrize("workers", [1, 2])
def test_no_more_than_workers_shards_are_in_flight(local_ray, tmp_path, toy_lake, workers, monkeypatch):
    waited_for: list[int] = []

    def wait(refs, **options):
        waited_for.append(len(refs))
        return ray_wait(refs, **options)

    ray_wait = ray.wait
    monkeypatch.setattr(ray, "wait", wait)
    behaviour = Behaviour(sleep_s=0.2, once=str(tmp_path))
    run(toy_lake, stages(double=behaviour, vectors=behaviour), workers=workers)
    assert max(waited_for) == workers
    moments = []
    for mark in tmp_path.glob("*.begun"):
        moments += [(mark.stat().st_mtime_ns, 1), (mark.with_suffix(".ended").stat().st_mtime_ns, -1)]
    assert len(moments) == 20
    assert max(accumulate(step for _, step in sorted(moments))) <= workers


def test_stages_with_the_same_model_share_its_actors(local_ray, tmp_path, toy_lake):
    base = stages(shift=Shift(1, log=str(tmp_path)))[1]
    twin = replace(toy_stages.renamed(base, "twin", "b", Behaviour()), costly=False)
    report = run(toy_lake, [base, twin], workers=1)
    assert counts(report, "done") == [5, 5]
    assert len(list(tmp_path.glob("loaded-*"))) == 1


def test_progress_hears_of_every_shard_and_always_of_the_end(local_ray, toy_lake, monkeypatch):
    heard = Recorder()
    run(toy_lake, stages(), heard)
    assert (heard.calls[0], heard.calls[-1]) == ("start", "stop")
    assert [heard.calls.count(stage.name) for stage in stages()] == [5] * 4

    def interrupted(self: Recorder) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Recorder, "tick", interrupted)
    heard = Recorder()
    with pytest.raises(KeyboardInterrupt):
        run(toy_lake, stages(factor=5), heard)
    assert heard.calls[-1] == "stop"


def test_two_runs_at_once_waste_work_and_corrupt_nothing(local_ray, tmp_path, toy_lake):
    slow = Behaviour(sleep_s=0.05, once=str(tmp_path))
    reports: list[RunReport] = []
    twins = [threading.Thread(target=lambda: reports.append(run(toy_lake, stages(double=slow)))) for _ in range(2)]
    for twin in twins:
        twin.start()
    for twin in twins:
        twin.join()
    assert [report.exit_code for report in reports] == [0, 0]
    undisturbed = toy_stages.lake(tmp_path / "other", [(0, 1, 2), (0, 2)])
    run(undisturbed, stages())
    assert contents(toy_lake) == contents(undisturbed)


@pytest.mark.slow
def test_driver_killed_at_any_moment_costs_nothing(tmp_path, local_ray):
    disturbed = toy_stages.lake(tmp_path / "disturbed", [(0, 1, 2, 3), (0, 2)])
    moments = random.Random(5)
    alive = []
    for _ in range(3):
        driver = subprocess.Popen([sys.executable, HERE / "toy_driver.py", disturbed.url], stdout=subprocess.PIPE)
        assert driver.stdout is not None
        driver.stdout.readline()
        time.sleep(moments.uniform(0.2, 2.0))
        alive.append(driver.poll() is None)
        driver.kill()
        driver.wait()
    assert alive[0]
    assert run(disturbed, stages()).exit_code == 0
    undisturbed = toy_stages.lake(tmp_path / "undisturbed", [(0, 1, 2, 3), (0, 2)])
    run(undisturbed, stages())
    assert contents(disturbed) == contents(undisturbed)


@pytest.mark.slow
def test_a_node_that_is_lost_in_mid_run_costs_nothing(tmp_path, local_ray):
    opened = toy_stages.lake(tmp_path / "lake", [(0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3)])
    ended = subprocess.run(
        [sys.executable, HERE / "toy_cluster.py", opened.url, tmp_path], capture_output=True, timeout=300, check=True
    )
    told = json.loads(ended.stdout.splitlines()[-1])
    assert told == {"exit_code": 0, "done": [12, 12, 12, 12], "lost_in_mid_shard": True, "failures": []}
    undisturbed = toy_stages.lake(tmp_path / "undisturbed", [(0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3)])
    run(undisturbed, stages())
    assert contents(opened) == contents(undisturbed)


def test_memory_of_the_driver_holds_no_table(local_ray, tmp_path):
    """A stage's output of 8 MB a shard leaves no trace in the driver."""
    opened = toy_stages.lake(tmp_path / "wide", [(0, 1, 2, 3)], rows=500_000)
    before = _resident_mib()
    report = run(opened, toy_stages.only("double", stages()))
    assert report.exit_code == 0
    assert _resident_mib() - before < 20


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

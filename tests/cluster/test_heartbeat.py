"""What a run under way leaves for others to read, and that it never harms the run."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cluster.heartbeat import DEAD_AFTER_S, EVERY_S, Heartbeat, beats
from cluster.report import StageReport
from cluster.storage import Storage

pytestmark = pytest.mark.flash


class Clock:
    """Both clocks of a heartbeat, moved by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)


class Counting(Storage):
    """A storage that counts what is written, and can refuse to write."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.written = 0
        self.broken = False

    def replace(self, path: str, data: bytes) -> None:
        self.written += 1
        if self.broken:
            raise PermissionError("no more writing today")
        super().replace(path, data)

    def delete(self, path: str) -> None:
        if self.broken:
            raise PermissionError("no more deleting today")
        super().delete(path)


@pytest.fixture(params=["local", "memory"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Counting:
    return Counting(str(tmp_path / "lake") if request.param == "local" else f"memory://{uuid.uuid4().hex}/lake")


def heart(storage: Storage, clock: Clock, run_id: str = "run-1", profile: str = "mine") -> Heartbeat:
    return Heartbeat(storage, run_id, profile, clock, clock.now)


def test_a_run_is_seen_with_its_pace_while_it_is_under_way(storage):
    clock = Clock()
    stage, reused = StageReport("pools", total=30, reused=10), StageReport("terms", total=3, reused=3)
    progress = heart(storage, clock)
    progress.start([reused, stage])
    (beat,) = beats(storage)
    assert (beat.run_id, beat.profile, beat.started, beat.at) == ("run-1", "mine", clock.now(), clock.now())
    assert [(said["name"], said["total"], said["done"], said["rate"]) for said in beat.stages] == [
        ("terms", 3, 0, None),
        ("pools", 30, 0, None),
    ]
    progress.update(stage)
    clock.seconds += 10
    stage.done = 5
    progress.update(stage)
    progress.tick()
    (beat,) = beats(storage)
    assert (beat.at - beat.started).total_seconds() == 10
    assert (beat.stages[1]["done"], beat.stages[1]["rate"], beat.stages[1]["left"]) == (5, 0.5, 30.0)
    progress.stop()
    assert beats(storage) == []


def test_it_writes_once_in_a_while_and_less_often_where_it_cannot(storage):
    clock = Clock()
    progress = heart(storage, clock)
    progress.start([StageReport("pools", total=1)])
    for _ in range(30):
        clock.seconds += 1
        progress.tick()
    assert storage.written == 1 + 30 / EVERY_S
    storage.broken, storage.written = True, 0
    for _ in range(60):
        clock.seconds += 1
        progress.tick()
    assert 0 < storage.written <= 4
    storage.broken = False
    clock.seconds += 100
    progress.tick()
    storage.written = 0
    for _ in range(30):
        clock.seconds += 1
        progress.tick()
    assert storage.written == 30 / EVERY_S, "a run that can write again is not taken for dead"
    progress.stop()


def test_what_cannot_be_read_or_written_fails_no_run(storage):
    storage.broken = True
    progress = heart(storage, Clock())
    progress.start([StageReport("pools", total=1)])
    progress.tick()
    progress.stop()
    assert beats(storage) == []
    storage.broken = False
    storage.create("runs/live/other.json", b"{half a")
    progress.start([StageReport("pools", total=1)])
    assert [beat.run_id for beat in beats(storage)] == ["run-1"]


def test_a_run_that_says_nothing_is_dead_and_the_next_of_its_profile_takes_its_file_away(storage):
    clock = Clock()
    for run_id, profile in (("run-1", "mine"), ("run-2", "other")):
        heart(storage, clock, run_id, profile).start([])
    clock.seconds += DEAD_AFTER_S - 1
    assert [beat.is_dead(clock.now()) for beat in beats(storage)] == [False, False]
    heart(storage, clock, "run-3").start([])
    assert [beat.run_id for beat in beats(storage)] == ["run-1", "run-2", "run-3"]
    clock.seconds += 2
    assert [beat.is_dead(clock.now()) for beat in beats(storage)] == [True, True, False]
    heart(storage, clock, "run-4").start([])
    assert [beat.run_id for beat in beats(storage)] == ["run-2", "run-3", "run-4"]

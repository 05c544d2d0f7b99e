from __future__ import annotations

import io

import pytest
from rich.console import Console

from cluster import progress as progress_module
from cluster.progress import LiveProgress, Pace, PlainProgress, Together, per_second, progress_for, shown
from cluster.report import StageReport

pytestmark = pytest.mark.flash


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def console(terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=200)


def said(target: Console) -> str:
    assert isinstance(target.file, io.StringIO)
    return target.file.getvalue()


def test_pace_counts_what_this_run_has_done_since_the_first_shard():
    clock = Clock()
    stage, pace = StageReport("pools", total=30, reused=10), Pace(clock)
    assert pace.rate(stage) is None
    stage.done = 1
    pace.begin(stage)
    assert pace.left(stage) is None
    clock.now += 2
    stage.done = 5
    pace.begin(stage)
    assert (pace.rate(stage), pace.left(stage)) == (2.0, 7.5)


def test_plain_lines_come_once_a_minute_and_at_the_end_of_each_stage():
    clock, target = Clock(), console(terminal=False)
    stage, waiting = StageReport("pools", total=3), StageReport("slates", total=3, reused=3)
    progress = PlainProgress("mine", target, clock)
    progress.start([stage, waiting])
    for _ in range(3):
        clock.now += 50
        stage.done += 1
        progress.update(stage)
        progress.tick()
    progress.stop()
    assert said(target).splitlines() == [
        "mine: 3 of 6 shards to do",
        "mine: pools 2/3, 0.02 shards/s, 0:00:50 left",
        "mine: pools 3/3, 0.02 shards/s",
    ]


def test_what_is_done_in_a_moment_needs_no_line_and_what_takes_longer_has_all_of_them():
    clock, target = Clock(), console(terminal=False)
    stage = StageReport("pools", total=2)
    progress = PlainProgress("mine", target, clock)
    progress.start([stage])
    stage.done = 2
    progress.update(stage)
    progress.stop()
    assert said(target) == ""
    stage.done = 0
    progress.start([stage])
    clock.now += 1
    progress.tick()
    assert said(target) == "mine: 2 of 2 shards to do\n"


@pytest.mark.parametrize(("rate", "shown"), [(25_000.0, "25,000"), (10.4, "10"), (9.96, "10"), (0.0123, "0.012")])
def test_a_rate_has_no_exponent(rate, shown):
    assert per_second(rate) == shown


def test_trouble_is_named_in_the_line():
    target = console(terminal=False)
    progress = PlainProgress("mine", target, Clock())
    stage = StageReport("pools", total=4)
    progress.start([stage])
    stage.done = stage.failed = stage.blocked = stage.needs_backfill = 1
    stage.quarantined = 7
    progress.update(stage)
    assert said(target) == ""
    progress.stop()
    assert "1 failed, 1 blocked, 1 need backfill, 7 quarantined" in said(target)


def test_live_display_shows_each_stage_with_its_trouble():
    target = console(terminal=True)
    progress = progress_for("mine", target)
    assert isinstance(progress, LiveProgress)
    stage = StageReport("pools", total=2)
    progress.start([stage])
    stage.done, stage.failed = 1, 1
    progress.update(stage)
    progress.tick()
    progress.stop()
    assert "mine pools" in said(target)
    assert "1 failed" in said(target)


def test_what_is_no_terminal_gets_plain_lines():
    assert isinstance(progress_for("mine", console(terminal=False)), PlainProgress)


def test_a_stage_that_its_caller_works_off_is_shown_in_its_own_unit(monkeypatch):
    target = console(terminal=False)
    monkeypatch.setattr(progress_module, "QUIET_S", 0.0)
    with shown(StageReport("read", total=3, unit="MB"), "ingest", target) as advance:
        for done in (1, 1, 3):
            advance(done)
    first, last = said(target).splitlines()
    assert first == "ingest: 3 of 3 MB to do"
    assert last.startswith("ingest: read 3/3")
    assert last.endswith(" MB/s")


def test_several_displays_are_told_the_same():
    first, second = (console(terminal=False) for _ in range(2))
    clock = Clock()
    progress = Together(PlainProgress("mine", first, clock), PlainProgress("yours", second, clock))
    stage = StageReport("pools", total=1)
    progress.start([stage])
    clock.now += 2
    stage.done = 1
    progress.update(stage)
    progress.tick()
    progress.stop()
    assert said(first).replace("mine", "yours") == said(second)
    assert len(said(first).splitlines()) == 2

"""How a run shows how far it is: a live display on a terminal, a plain line a minute anywhere else."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as Bars

from cluster.report import StageReport

LINE_EVERY_S = 60.0
QUIET_S = 1.0
"""What is done within so many seconds needs no lines, as long as nothing failed."""


class Progress(Protocol):
    """Told by the executor how its stages stand. The reports are the executor's own and change under way."""

    def start(self, stages: Sequence[StageReport]) -> None:
        """Called once, after planning and before the first shard."""
        ...

    def update(self, stage: StageReport) -> None:
        """Called when a shard of a stage was settled."""
        ...

    def tick(self) -> None:
        """Called about once a second."""
        ...

    def stop(self) -> None:
        """Called once, also when the run ends by an exception."""
        ...


def progress_for(title: str, console: Console | None = None) -> Progress:
    """The live display where the console is a terminal, plain lines where it is not."""
    console = console or Console(stderr=True)
    return LiveProgress(title, console) if console.is_terminal else PlainProgress(title, console)


class Together:
    """Several displays as one."""

    def __init__(self, *displays: Progress) -> None:
        self._displays = displays

    def start(self, stages: Sequence[StageReport]) -> None:
        """Starts all."""
        for display in self._displays:
            display.start(stages)

    def update(self, stage: StageReport) -> None:
        """Updates all."""
        for display in self._displays:
            display.update(stage)

    def tick(self) -> None:
        """Ticks all."""
        for display in self._displays:
            display.tick()

    def stop(self) -> None:
        """Stops all."""
        for display in self._displays:
            display.stop()


@contextmanager
def shown(stage: StageReport, title: str, console: Console | None = None) -> Iterator[Callable[[int], None]]:
    """Shows one stage that its caller works off itself: yields what takes the number done so far."""
    progress = progress_for(title, console)

    def advance(done: int) -> None:
        if done > stage.done:
            stage.done = done
            progress.update(stage)
        progress.tick()

    progress.start([stage])
    try:
        yield advance
    finally:
        progress.stop()


class Pace:
    """Rate and time left of one stage, from the shards that this run has done itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun: float | None = None
        self._at_begin = 0

    def begin(self, stage: StageReport) -> None:
        """Starts the clock, at the first shard of the stage that is settled while the run goes on."""
        if self._begun is None:
            self._begun, self._at_begin = self._clock(), stage.done

    def rate(self, stage: StageReport) -> float | None:
        """Shards a second, None before the first."""
        if self._begun is None or stage.done == self._at_begin:
            return None
        return (stage.done - self._at_begin) / max(self._clock() - self._begun, 1e-9)

    def left(self, stage: StageReport) -> float | None:
        """Seconds until the stage is done at this rate, None while there is no rate."""
        rate = self.rate(stage)
        return None if rate is None else stage.open / rate


class PlainProgress:
    """One line a minute with every stage under way, and one line when a stage ends; none where all is done at once."""

    def __init__(
        self, title: str, console: Console, clock: Callable[[], float] = time.monotonic, every_s: float = LINE_EVERY_S
    ) -> None:
        self._title = title
        self._console = console
        self._clock = clock
        self._every_s = every_s
        self._stages: Sequence[StageReport] = ()
        self._paces: dict[str, Pace] = {}
        self._ended: set[str] = set()
        self._next_line = 0.0
        self._begun = 0.0
        self._held: list[str] = []

    def start(self, stages: Sequence[StageReport]) -> None:
        """Says how much there is to do."""
        self._stages = stages
        self._paces = {stage.name: Pace(self._clock) for stage in stages}
        self._ended = {stage.name for stage in stages if not stage.open}
        self._begun = self._clock()
        self._next_line = self._begun + self._every_s
        for unit in dict.fromkeys(stage.unit for stage in stages):
            counted = [stage for stage in stages if stage.unit == unit]
            todo, total = sum(stage.open for stage in counted), sum(stage.total for stage in counted)
            self._say(f"{todo} of {total} {unit} to do")

    def update(self, stage: StageReport) -> None:
        """Says when a stage has ended."""
        self._paces[stage.name].begin(stage)
        if not stage.open and stage.name not in self._ended:
            self._ended.add(stage.name)
            self._say(_line(stage, self._paces[stage.name]))

    def tick(self) -> None:
        """Says once a minute how the stages under way stand."""
        self._say()
        if self._clock() < self._next_line:
            return
        self._next_line = self._clock() + self._every_s
        lines = [_line(stage, self._paces[stage.name]) for stage in self._stages if stage.open]
        self._say("; ".join(lines))

    def stop(self) -> None:
        """Says what was held back, where something failed."""
        self._say(at_once=any(_trouble(stage) for stage in self._stages))
        self._held.clear()

    def _say(self, *texts: str, at_once: bool = False) -> None:
        """Prints lines, or holds them back while it may be that all is done in a moment."""
        self._held += texts
        if at_once or self._clock() - self._begun >= QUIET_S:
            for text in self._held:
                self._console.print(f"{self._title}: {text}", markup=False, highlight=False, soft_wrap=True)
            self._held.clear()


class LiveProgress:
    """A bar for each stage with done/total, rate, time left, failed and quarantined."""

    def __init__(self, title: str, console: Console) -> None:
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[pace]}"),
            TextColumn("[red]{task.fields[trouble]}"),
            console=console,
        )
        self._title = title
        self._tasks: dict[str, TaskID] = {}
        self._paces: dict[str, Pace] = {}

    def start(self, stages: Sequence[StageReport]) -> None:
        """Shows the bars."""
        for stage in stages:
            self._paces[stage.name] = Pace()
            self._tasks[stage.name] = self._bars.add_task(
                f"{self._title} {stage.name}",
                total=stage.total,
                completed=stage.done + stage.reused,
                pace="",
                trouble=_trouble(stage),
            )
        self._bars.start()

    def update(self, stage: StageReport) -> None:
        """Moves a stage's bar."""
        self._paces[stage.name].begin(stage)
        self._bars.update(
            self._tasks[stage.name],
            completed=stage.done + stage.reused,
            pace=_pace(stage, self._paces[stage.name]),
            trouble=_trouble(stage),
        )

    def tick(self) -> None:
        """Nothing: Rich refreshes the display itself."""

    def stop(self) -> None:
        """Leaves the bars as they are."""
        self._bars.stop()


def _line(stage: StageReport, pace: Pace) -> str:
    parts = [f"{stage.name} {stage.done + stage.reused}/{stage.total}", _pace(stage, pace), _trouble(stage)]
    return ", ".join(part for part in parts if part)


def _pace(stage: StageReport, pace: Pace) -> str:
    rate, left = pace.rate(stage), pace.left(stage)
    if rate is None or left is None:
        return ""
    return f"{per_second(rate)} {stage.unit}/s" + (f", {timedelta(seconds=round(left))} left" if stage.open else "")


def per_second(rate: float) -> str:
    """A rate with about two digits, and never with an exponent that large numbers get."""
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def _trouble(stage: StageReport) -> str:
    counts = {
        "failed": stage.failed,
        "blocked": stage.blocked,
        "need backfill": stage.needs_backfill,
        "quarantined": stage.quarantined,
    }
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)

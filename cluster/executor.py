"""Runs a plan: starts a shard as soon as its inputs are done, and keeps every failure to its shard."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from cluster import rayenv, shard
from cluster.actors import NoSuchDevice
from cluster.batches import Batch
from cluster.bisect import Bisection
from cluster.cache import MarkCache
from cluster.exits import QUARANTINE_LIMIT
from cluster.graph import Shard
from cluster.lake import Lake
from cluster.plan import RUNNABLE, Plan, State
from cluster.progress import Progress
from cluster.report import Failure, RunReport, StageReport
from cluster.runfiles import files_of
from cluster.shard import ShardReport
from cluster.stage import Stage
from cluster.window import Fate, Landing, Window

__all__ = ["RunReport", "execute"]

RUN_RETRIES = 3
PROBE_RETRIES = 1
"""A probe is retried once, so that a passing trouble of the machine is not blamed on rows."""
RESUBMISSIONS = 2
"""How often a shard that is over its deadline is tried again."""
DEATHS = 2
"""How often a shard may kill its worker, beyond Ray's own retries, before it fails."""
CRASHED_UNITS = 4
"""More units than this that kill their worker alone are no fault of the units."""
TICK_S = 1.0


def execute(
    lake: Lake,
    stages: Sequence[Stage],
    batches: Sequence[Batch],
    *,
    progress: Progress,
    workers: int | None = None,
    address: str | None = None,
    backfill: Collection[str] = (),
    deadline_s: float = 1800.0,
    quarantine_limit: float = QUARANTINE_LIMIT,
    cache: MarkCache | None = None,
) -> RunReport:
    """Brings every shard of `stages` over `batches` up to date that may be; stages in order, batches all committed.

    At most `workers` shards are in flight (None: as many as the cluster has CPUs). Ray is not started when there is
    nothing to do. A shard that raises is reported, and the others go on; one that kills its worker is bisected; one in
    flight for more than `deadline_s` seconds is given up and submitted again. What the run is to be judged by is in the
    report. Raises LakeError or ValueError when the stages, the batches and the lake do not fit, before anything is run.
    """
    started = time.monotonic()
    plan = Plan(lake, stages, batches, backfill, cache)
    run = _Run(plan, deadline_s, progress)
    used_ray = run.has_work
    if used_ray:
        with rayenv.session(workers, address) as capacity:
            run.work_off(capacity)
    return RunReport(
        stages=tuple(run.stages),
        files=files_of(plan, run.reports),
        failures=run.failures,
        quarantine_limit=quarantine_limit,
        seconds=time.monotonic() - started,
        used_ray=used_ray,
    )


@dataclass
class _Attempt:
    """What is to be done next for a shard, and what was tried before; kept while the shard is not settled."""

    call: Callable[..., Any] = shard.run
    args: tuple[Any, ...] = ()
    overdue: int = 0
    deaths: int = 0
    cause_of_death: str = ""
    bisection: Bisection | None = None


class _Run:
    """The driver's whole memory of a run: small state for each shard, no table."""

    def __init__(self, plan: Plan, deadline_s: float, progress: Progress) -> None:
        self.stages = [StageReport(stage.name) for stage in plan.graph.stages]
        self.reports: dict[Shard, ShardReport] = {}
        self.failures: list[Failure] = []
        self._plan = plan
        self._deadline_s = deadline_s
        self._progress = progress
        self._ready: list[Shard] = []
        self._attempts: dict[Shard, _Attempt] = {}
        for key in plan.standings:
            self.stages[key.stage].total += 1
            self._count(key)

    @property
    def has_work(self) -> bool:
        """Whether a shard can be run."""
        return bool(self._ready)

    def work_off(self, capacity: rayenv.Capacity) -> None:
        """Runs until nothing is ready or in flight; leaves nothing running, also when interrupted."""
        window = Window(capacity, self._plan.graph.stages, self._plan.lake.storage, self._deadline_s)
        self._progress.start(self.stages)
        try:
            while True:
                self._fill(window)
                if window.is_empty:
                    break
                for landing in window.landings(TICK_S):
                    self._take_in(landing)
                window.actors.retire(self._needs_model)
                self._progress.tick()
        finally:
            window.close()
            self._progress.stop()

    def _fill(self, window: Window) -> None:
        """Submits ready shards in order until the window is full; those whose model has no free GPU wait."""
        held_back = []
        while self._ready and window.has_room:
            key = heapq.heappop(self._ready)
            try:
                if not self._submit(key, window):
                    held_back.append(key)
            except NoSuchDevice as error:
                self._fail(key, str(error))
        for key in held_back:
            heapq.heappush(self._ready, key)

    def _submit(self, key: Shard, window: Window) -> bool:
        attempt = self._attempts.setdefault(key, _Attempt())
        return window.submit(
            key,
            self._plan.work(key),
            attempt.call,
            attempt.args,
            retries=RUN_RETRIES if attempt.call is shard.run else PROBE_RETRIES,
            # No row, no model: such a shard is only written down.
            with_model=self._plan.standings[key].rows > 0,
        )

    def _take_in(self, landing: Landing) -> None:
        key, attempt = landing.shard, self._attempts[landing.shard]
        match landing.fate:
            case Fate.RETURNED:
                self._returned(key, attempt, landing.result)
            case Fate.RAISED if attempt.call is shard.probe:
                # It has not killed its worker: the shard itself will say what is wrong.
                self._bisect_on(key, attempt, survived=True)
            case Fate.DIED:
                self._died(key, attempt, landing.reason)
            case Fate.OVERDUE:
                attempt.overdue += 1
                if attempt.overdue > RESUBMISSIONS:
                    self._fail(key, f"not done within {self._deadline_s:g} s, tried {attempt.overdue} times")
                else:
                    heapq.heappush(self._ready, key)
            case _:
                self._fail(key, landing.reason, landing.detail)

    def _returned(self, key: Shard, attempt: _Attempt, result: Any) -> None:
        if attempt.call is shard.run:
            self._finish(key, result)
        elif attempt.call is shard.count_units:
            attempt.bisection = Bisection(result, CRASHED_UNITS)
            self._bisect_on(key, attempt)
        elif attempt.call is shard.probe:
            self._bisect_on(key, attempt, survived=True)
        else:
            self._plan.notes[key] = result
            self._next(key, shard.run)

    def _died(self, key: Shard, attempt: _Attempt, reason: str) -> None:
        if attempt.call is shard.probe:
            self._bisect_on(key, attempt, survived=False)
        elif attempt.call is not shard.run:
            self._fail(key, f"its worker dies before a row is computed, reading inputs or loading the model ({reason})")
        elif attempt.deaths == DEATHS:
            self._fail(key, f"it kills its worker as a whole, though every part of it survives ({reason})")
        else:
            attempt.deaths += 1
            attempt.cause_of_death = reason
            self._next(key, shard.count_units)

    def _bisect_on(self, key: Shard, attempt: _Attempt, survived: bool | None = None) -> None:
        """The next probe; at the end the culprits are taken out, or, when there are none, the shard is run again."""
        bisection = attempt.bisection
        assert bisection is not None
        if survived is not None:
            bisection.take_in(survived)
        if bisection.gave_up:
            self._fail(
                key, f"more than {CRASHED_UNITS} of its units kill their worker alone ({attempt.cause_of_death})"
            )
        elif bisection.part is not None:
            self._next(key, shard.probe, bisection.part)
        elif bisection.culprits:
            reason = f"kills its worker each time it is computed ({attempt.cause_of_death})"
            self._next(key, shard.take_out, tuple(bisection.culprits), reason)
        else:
            self._next(key, shard.run)

    def _next(self, key: Shard, call: Callable[..., Any], *args: Any) -> None:
        attempt = self._attempts[key]
        attempt.call, attempt.args = call, args
        heapq.heappush(self._ready, key)

    def _finish(self, key: Shard, report: ShardReport) -> None:
        self.reports[key] = report
        self._settle(key, self._plan.finish(key, report))

    def _fail(self, key: Shard, reason: str, detail: str = "") -> None:
        stage, batch = self._plan.stage(key), self._plan.batch(key)
        self.failures.append(Failure(stage.name, batch.name, key.bucket, reason, detail))
        self._settle(key, self._plan.fail(key))

    def _settle(self, key: Shard, changed: Sequence[Shard]) -> None:
        del self._attempts[key]
        for other in (key, *changed):
            self._count(other)
        settled = [key, *(other for other in changed if self._plan.standings[other].state not in RUNNABLE)]
        for index in sorted({other.stage for other in settled}):
            self._progress.update(self.stages[index])

    def _count(self, key: Shard) -> None:
        """Counts a shard by its new state; one that can be run becomes ready."""
        stage, standing = self.stages[key.stage], self._plan.standings[key]
        if standing.state in RUNNABLE:
            heapq.heappush(self._ready, key)
        elif standing.state is State.DONE:
            report = self.reports.get(key)
            stage.done += report is not None
            stage.reused += report is None
            for name, cost in ({} if report is None else report.cost).items():
                setattr(stage, name, getattr(stage, name) + cost)
            stage.rows += standing.rows
            stage.quarantined += self._plan.note(key).weight
        elif standing.state is not State.WAITING:
            stage.failed += standing.state is State.FAILED
            stage.blocked += standing.state is State.BLOCKED
            if standing.state is State.NEEDS_BACKFILL:
                stage.needs_backfill += 1
                stage.stale += self._plan.is_there(key)

    def _needs_model(self, key: str) -> bool:
        stages = zip(self._plan.graph.stages, self.stages, strict=True)
        return any(report.open for stage, report in stages if stage.model is not None and stage.model.key == key)

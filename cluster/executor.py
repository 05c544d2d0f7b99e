"""Runs a plan on Ray: one bounded window of shards in flight, every failure kept to its shard."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import (
    NodeDiedError,
    OutOfMemoryError,
    RayActorError,
    RayError,
    RayTaskError,
    TaskCancelledError,
    WorkerCrashedError,
)

from cluster import rayenv, shard
from cluster.actors import ActorPools, NoSuchDevice
from cluster.batches import Batch
from cluster.bisect import Bisection
from cluster.cache import MarkCache
from cluster.graph import Shard
from cluster.lake import Lake
from cluster.plan import RUNNABLE, Plan, State
from cluster.progress import Progress
from cluster.report import Failure, RunReport, StageReport
from cluster.runfiles import files_of
from cluster.shard import ShardReport
from cluster.stage import Stage

RUN_RETRIES = 3
PROBE_RETRIES = 1
RESUBMISSIONS = 2
"""How often a shard that is over its deadline is tried again."""
DEATHS = 3
"""How often a shard may kill its worker, beyond Ray's own retries, before it fails."""
CRASHED_UNITS = 4
"""More units than this that kill their worker alone are no fault of the units."""
TICK_S = 1.0

_DEATHS = (WorkerCrashedError, OutOfMemoryError, RayActorError, NodeDiedError, TaskCancelledError)


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
    quarantine_limit: float = 0.01,
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
    used_ray = bool(run.ready)
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
    """What is to be done next for a shard, and what was tried before: kept while the shard is runnable."""

    call: Callable[..., Any] = shard.run
    args: tuple[Any, ...] = ()
    overdue: int = 0
    deaths: int = 0
    reason: str = ""
    bisection: Bisection | None = None


@dataclass
class _Flight:
    shard: Shard
    actor: Any | None
    since: float = field(default_factory=time.monotonic)


class _Run:
    """The driver's whole memory of a run: small state for each shard, no table."""

    def __init__(self, plan: Plan, deadline_s: float, progress: Progress) -> None:
        self.plan = plan
        self.stages = [StageReport(stage.name) for stage in plan.graph.stages]
        self.reports: dict[Shard, ShardReport] = {}
        self.failures: list[Failure] = []
        self.ready: list[Shard] = []
        self._attempts: dict[Shard, _Attempt] = {}
        self._flights: dict[Any, _Flight] = {}
        self._shipped: dict[int, Any] = {}
        self._deadline_s = deadline_s
        self._progress = progress
        for key, standing in plan.standings.items():
            self.stages[key.stage].total += 1
            if standing.state is not State.WAITING:
                self._tally(key)

    def work_off(self, capacity: rayenv.Capacity) -> None:
        """Runs until nothing is ready or in flight; leaves nothing running, also when interrupted."""
        self._pools = ActorPools(capacity.gpus)
        self._progress.start(self.stages)
        try:
            while self.ready or self._flights:
                self._fill(capacity.workers)
                landed, _ = ray.wait(list(self._flights), num_returns=1, timeout=TICK_S)
                for ref in landed:
                    self._land(ref)
                self._give_up_overdue()
                self._pools.retire(self._needs_model)
                self._progress.tick()
        finally:
            for ref, flight in self._flights.items():
                if flight.actor is None:
                    ray.cancel(ref, force=True)
            self._pools.close()
            self._progress.stop()

    def _fill(self, workers: int) -> None:
        """Submits ready shards in order until the window is full; those whose model has no free GPU wait."""
        waiting = []
        while self.ready and len(self._flights) < workers:
            key = heapq.heappop(self.ready)
            try:
                if not self._submit(key):
                    waiting.append(key)
            except NoSuchDevice as error:
                self._fail(key, str(error))
        for key in waiting:
            heapq.heappush(self.ready, key)

    def _submit(self, key: Shard) -> bool:
        attempt = self._attempts.setdefault(key, _Attempt())
        stage = self.plan.stage(key)
        work = self.plan.work(key)
        retries = RUN_RETRIES if attempt.call is shard.run else PROBE_RETRIES
        # No row, no model: such a shard is only written down.
        if stage.model is None or not self.plan.standings[key].rows:
            ref = _call.options(max_retries=retries, name=work.label).remote(
                attempt.call, self._ship(key.stage), work, *attempt.args
            )
            self._flights[ref] = _Flight(key, None)
            return True
        actor = self._pools.acquire(stage.model)
        if actor is None:
            return False
        bounded = {} if attempt.call is shard.run else {"max_task_retries": PROBE_RETRIES}
        ref = actor.call.options(name=work.label, **bounded).remote(
            attempt.call, self._ship(key.stage), work, *attempt.args
        )
        self._flights[ref] = _Flight(key, actor)
        return True

    def _ship(self, index: int) -> Any:
        """A stage is put into the object store once, not into every call: it may hold a ranker."""
        if index not in self._shipped:
            self._shipped[index] = ray.put((self.plan.graph.stages[index], self.plan.lake.storage))
        return self._shipped[index]

    def _land(self, ref: Any) -> None:
        flight = self._flights.pop(ref)
        try:
            result = ray.get(ref)
        except RayTaskError as error:
            self._leave(flight, alive=True)
            self._raised(flight.shard, error)
        except _DEATHS as error:
            self._leave(flight, alive=False)
            self._died(flight.shard, f"{type(error).__name__}: {_first_line(error)}")
        except RayError as error:
            self._leave(flight, alive=False)
            self._fail(flight.shard, f"{type(error).__name__}: {error}")
        else:
            self._leave(flight, alive=True)
            self._returned(flight.shard, result)

    def _leave(self, flight: _Flight, alive: bool) -> None:
        if flight.actor is not None:
            (self._pools.release if alive else self._pools.discard)(flight.actor)

    def _returned(self, key: Shard, result: Any) -> None:
        attempt = self._attempts[key]
        if attempt.call is shard.run:
            self._finish(key, result)
        elif attempt.call is shard.count_units:
            attempt.bisection = Bisection(result, CRASHED_UNITS)
            self._bisect_on(key, attempt)
        elif attempt.call is shard.probe:
            assert attempt.bisection is not None
            attempt.bisection.survived()
            self._bisect_on(key, attempt)
        else:
            self.plan.notes[key] = result
            self._next(key, shard.run)

    def _raised(self, key: Shard, error: RayTaskError) -> None:
        """The call's own exception. A probe that raises has not killed its worker: the shard itself will say why."""
        attempt = self._attempts[key]
        if attempt.call is shard.probe:
            self._returned(key, None)
            return
        cause = error.cause
        self._fail(key, f"{type(cause).__name__}: {cause}", str(error))

    def _died(self, key: Shard, reason: str) -> None:
        attempt = self._attempts[key]
        if attempt.call is shard.run:
            attempt.deaths += 1
            attempt.reason = reason
            if attempt.deaths > DEATHS:
                self._fail(key, f"it kills its worker as a whole, though every part of it survives ({reason})")
            else:
                self._next(key, shard.count_units)
        elif attempt.call is shard.probe:
            assert attempt.bisection is not None
            attempt.bisection.died()
            self._bisect_on(key, attempt)
        else:
            self._fail(
                key, f"its worker dies before any row is computed, reading inputs or loading the model ({reason})"
            )

    def _bisect_on(self, key: Shard, attempt: _Attempt) -> None:
        """The next probe; at the end the culprits are taken out, or, when there are none, the shard is run again."""
        bisection = attempt.bisection
        assert bisection is not None
        if bisection.gave_up:
            self._fail(key, f"more than {CRASHED_UNITS} of its units kill their worker alone ({attempt.reason})")
        elif bisection.part is not None:
            self._next(key, shard.probe, bisection.part)
        elif bisection.culprits:
            reason = f"kills its worker each time it is computed ({attempt.reason})"
            self._next(key, shard.take_out, tuple(bisection.culprits), reason)
        else:
            self._next(key, shard.run)

    def _next(self, key: Shard, call: Callable[..., Any], *args: Any) -> None:
        attempt = self._attempts[key]
        attempt.call, attempt.args = call, args
        heapq.heappush(self.ready, key)

    def _give_up_overdue(self) -> None:
        """What is in flight for too long may hang, or its node may: it is left behind and submitted again.

        Should it end all the same, nothing is lost: who publishes first wins.
        """
        now = time.monotonic()
        overdue = [ref for ref, flight in self._flights.items() if now - flight.since > self._deadline_s]
        for ref in overdue:
            flight = self._flights.pop(ref)
            if flight.actor is None:
                ray.cancel(ref, force=True)
            else:
                self._pools.discard(flight.actor)
            attempt = self._attempts[flight.shard]
            attempt.overdue += 1
            if attempt.overdue > RESUBMISSIONS:
                self._fail(flight.shard, f"not done within {self._deadline_s:g} s in {attempt.overdue} tries")
            else:
                heapq.heappush(self.ready, flight.shard)

    def _finish(self, key: Shard, report: ShardReport) -> None:
        self.reports[key] = report
        del self._attempts[key]
        changed = self.plan.finish(key, report)
        self._tally(key)
        self._progress.update(self.stages[key.stage])
        self._take_in(changed)

    def _fail(self, key: Shard, reason: str, detail: str = "") -> None:
        del self._attempts[key]
        stage, batch = self.plan.stage(key), self.plan.batch(key)
        self.failures.append(Failure(stage.name, batch.name, key.bucket, reason, detail))
        blocked = self.plan.fail(key)
        self._tally(key)
        self._progress.update(self.stages[key.stage])
        self._take_in(blocked)

    def _take_in(self, changed: Sequence[Shard]) -> None:
        for key in changed:
            self._tally(key)
        for index in sorted({key.stage for key in changed}):
            self._progress.update(self.stages[index])

    def _tally(self, key: Shard) -> None:
        """Counts a shard that was settled; one that can be run becomes ready."""
        stage, standing = self.stages[key.stage], self.plan.standings[key]
        if standing.state in RUNNABLE:
            heapq.heappush(self.ready, key)
        elif standing.state is State.DONE:
            report = self.reports.get(key)
            stage.done += report is not None
            stage.reused += report is None
            stage.seconds += 0.0 if report is None else report.seconds
            stage.rows += standing.rows
            stage.quarantined += self.plan.note(key).weight
        else:
            stage.failed += standing.state is State.FAILED
            stage.blocked += standing.state is State.BLOCKED
            stage.needs_backfill += standing.state is State.NEEDS_BACKFILL

    def _needs_model(self, key: str) -> bool:
        stages = zip(self.plan.graph.stages, self.stages, strict=True)
        return any(report.open for stage, report in stages if stage.model is not None and stage.model.key == key)


@ray.remote(num_cpus=1, retry_exceptions=False, scheduling_strategy="SPREAD")
def _call(function: Callable[..., Any], shipped: tuple[Any, Any], *args: Any) -> Any:
    """Runs one of the functions of cluster/shard.py without a model."""
    return function(*shipped, args[0], lambda: None, *args[1:])


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")

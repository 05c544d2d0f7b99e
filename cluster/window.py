"""The shards in flight on Ray: a bounded number, each with a deadline, each landing with what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
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

from cluster.actors import ACTOR_RETRIES, ActorPools
from cluster.graph import Shard
from cluster.rayenv import Capacity
from cluster.shard import Work
from cluster.stage import Stage
from cluster.storage import Storage

_DEATHS = (WorkerCrashedError, OutOfMemoryError, RayActorError, NodeDiedError, TaskCancelledError)


class Fate(Enum):
    """How a call ended: with a result, with its own exception, with its worker, not in time, or not for lack of Ray."""

    RETURNED = "returned"
    RAISED = "raised"
    DIED = "died"
    OVERDUE = "overdue"
    REFUSED = "refused"


@dataclass(frozen=True)
class Landing:
    """A call that is over. `result` where it returned; else `reason` in a line and, if there is one, a traceback."""

    shard: Shard
    fate: Fate
    result: Any = None
    reason: str = ""
    detail: str = ""


@dataclass(frozen=True)
class _Flight:
    shard: Shard
    actor: Any | None
    since: float = field(default_factory=time.monotonic)


class Window:
    """At most `capacity.workers` calls in flight, in tasks or, for a stage with a model, in actors that hold it."""

    def __init__(self, capacity: Capacity, stages: Sequence[Stage], storage: Storage, deadline_s: float) -> None:
        self.actors = ActorPools(capacity.gpus, capacity.machines)
        self._workers = capacity.workers
        self._stages = stages
        self._storage = storage
        self._deadline_s = deadline_s
        self._shipped: dict[int, Any] = {}
        self._flights: dict[Any, _Flight] = {}

    @property
    def has_room(self) -> bool:
        """Whether one more call may be submitted."""
        return len(self._flights) < self._workers

    @property
    def is_empty(self) -> bool:
        """Whether nothing is in flight."""
        return not self._flights

    def submit(
        self, key: Shard, work: Work, call: Callable[..., Any], args: tuple[Any, ...], *, retries: int, with_model: bool
    ) -> bool:
        """Submits a function of cluster/shard.py; False, and nothing done, while every GPU or machine is taken.

        `retries` are Ray's own, for a worker that dies; an actor's call has at most its class's. Raises NoSuchDevice.
        """
        model = self._stages[key.stage].model
        if model is None or not with_model:
            task = _TASK.options(max_retries=retries, name=work.label)
            self._flights[task.remote(call, self._ship(key.stage), work, *args)] = _Flight(key, None)
            return True
        actor = self.actors.acquire(model)
        if actor is None:
            return False
        method = actor.call.options(name=work.label, max_task_retries=min(retries, ACTOR_RETRIES))
        self._flights[method.remote(call, self._ship(key.stage), work, *args)] = _Flight(key, actor)
        return True

    def landings(self, timeout_s: float) -> Iterator[Landing]:
        """What is over by now, waiting up to `timeout_s` for the first; then what is in flight for too long.

        Something overdue may hang, or its node may: it is left behind. Should it end all the same, nothing is lost,
        because who publishes first wins.
        """
        over, _ = ray.wait(list(self._flights), num_returns=1, timeout=timeout_s)
        for ref in over:
            yield self._land(ref)
        now = time.monotonic()
        for ref, flight in list(self._flights.items()):
            if now - flight.since > self._deadline_s:
                del self._flights[ref]
                self._abandon(ref, flight)
                yield Landing(flight.shard, Fate.OVERDUE)

    def close(self) -> None:
        """Leaves nothing running."""
        while self._flights:
            self._abandon(*self._flights.popitem())
        self.actors.close()

    def _land(self, ref: Any) -> Landing:
        flight = self._flights.pop(ref)
        landing = _outcome(flight.shard, ref)
        if flight.actor is not None:
            if landing.fate in (Fate.RETURNED, Fate.RAISED):
                self.actors.release(flight.actor)
            else:
                self.actors.discard(flight.actor)
        return landing

    def _abandon(self, ref: Any, flight: _Flight) -> None:
        if flight.actor is None:
            ray.cancel(ref, force=True)
        else:
            self.actors.discard(flight.actor)

    def _ship(self, index: int) -> Any:
        """A stage is put into the object store once, not into every call: it may hold a ranker."""
        if index not in self._shipped:
            self._shipped[index] = ray.put((self._stages[index], self._storage))
        return self._shipped[index]


def _outcome(key: Shard, ref: Any) -> Landing:
    try:
        return Landing(key, Fate.RETURNED, result=ray.get(ref))
    except RayTaskError as error:
        return Landing(key, Fate.RAISED, reason=f"{type(error.cause).__name__}: {error.cause}", detail=str(error))
    except _DEATHS as error:
        return Landing(key, Fate.DIED, reason=f"{type(error).__name__}: {_first_line(error)}")
    except RayError as error:
        return Landing(key, Fate.REFUSED, reason=f"{type(error).__name__}: {error}")


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")


def _run_plain(function: Callable[..., Any], shipped: tuple[Stage, Storage], work: Work, *args: Any) -> Any:
    """Runs one of the functions of cluster/shard.py without a model."""
    return function(*shipped, work, lambda: None, *args)


_TASK = ray.remote(num_cpus=1, retry_exceptions=False, scheduling_strategy="SPREAD")(_run_plain)

"""Actors that hold a model: made when first needed, one call at a time each, gone when no shard is left for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ray

from cluster.shard import ShardReport, Work
from cluster.stage import ModelSpec, Stage
from cluster.storage import Storage


class NoSuchDevice(RuntimeError):
    """A model asks for more GPUs than the whole cluster has."""


ACTOR_RETRIES = 2
"""How often Ray runs an actor's call again when the actor has died."""


class ModelActor:
    """Loads its model at the first call that needs it, so that a failure to load is that call's own exception."""

    def __init__(self, load: Callable[[], Any], gpus: float = 0) -> None:
        self._load = load
        self._gpus = gpus
        self._model: list[Any] = []

    def call(self, function: Callable[..., Any], shipped: tuple[Stage, Storage], work: Work, *args: Any) -> Any:
        """Runs one of the functions of cluster/shard.py with the model at hand."""
        result = function(*shipped, work, self._loaded, *args)
        if isinstance(result, ShardReport):
            return replace(result, gpu_seconds=self._gpus * result.seconds)
        return result

    def _loaded(self) -> Any:
        if not self._model:
            self._model.append(self._load())
        return self._model[0]


# The window bounds how many are at work: they need no CPU of their own to be scheduled.
_ACTOR = ray.remote(max_restarts=-1, max_task_retries=ACTOR_RETRIES, num_cpus=0, scheduling_strategy="SPREAD")(
    ModelActor
)


class ActorPools:
    """One pool of actors for each model, within the GPUs of the cluster, and its machines where it has none.

    The window bounds a pool's size too: an actor is made only when all others of its model are busy.
    """

    def __init__(self, gpus: float, machines: int = 1) -> None:
        self._free_gpus = self._all_gpus = gpus
        self._machines = machines
        self._specs: dict[str, ModelSpec] = {}
        self._idle: dict[str, list[Any]] = {}
        self._busy: dict[Any, str] = {}

    def acquire(self, model: ModelSpec) -> Any | None:
        """An actor with the model, None while every place for it is taken. Raises NoSuchDevice when there can be
        none."""
        spec = self._specs.setdefault(model.key, self._placed(model))
        if spec.gpus > self._all_gpus:
            raise NoSuchDevice(f"model {spec.key} needs {spec.gpus:g} GPU, the cluster has {self._all_gpus:g}")
        idle = self._idle.setdefault(spec.key, [])
        if idle:
            actor = idle.pop()
        elif not self._is_full(spec) and self._make_room(spec):
            self._free_gpus -= spec.gpus
            actor = _ACTOR.options(num_gpus=spec.gpus).remote(spec.load, spec.gpus)
        else:
            return None
        self._busy[actor] = spec.key
        return actor

    def release(self, actor: Any) -> None:
        """Takes an actor back after its call."""
        self._idle[self._busy.pop(actor)].append(actor)

    def discard(self, actor: Any) -> None:
        """Ends an actor that hangs or has died; another is made when needed."""
        self._end(actor, self._busy.pop(actor))

    def retire(self, needed: Callable[[str], bool]) -> None:
        """Ends the idle actors whose model no shard needs any more."""
        for key, idle in self._idle.items():
            while idle and not needed(key):
                self._end(idle.pop(), key)

    def close(self) -> None:
        """Ends every actor."""
        self.retire(lambda _: False)
        for actor in list(self._busy):
            self.discard(actor)

    def _placed(self, model: ModelSpec) -> ModelSpec:
        """A model as this cluster can hold it."""
        return replace(model, gpus=0, most=self._machines) if model.else_cpu and not self._all_gpus else model

    def _is_full(self, spec: ModelSpec) -> bool:
        """Whether there are as many actors of a model as there may be: none of them is idle."""
        return spec.most is not None and sum(key == spec.key for key in self._busy.values()) >= spec.most

    def _make_room(self, spec: ModelSpec) -> bool:
        """Frees GPUs by ending idle actors of other models, when that is what it takes."""
        for key, idle in self._idle.items():
            while idle and self._specs[key].gpus and self._free_gpus < spec.gpus:
                self._end(idle.pop(), key)
        return self._free_gpus >= spec.gpus

    def _end(self, actor: Any, key: str) -> None:
        ray.kill(actor)
        self._free_gpus += self._specs[key].gpus

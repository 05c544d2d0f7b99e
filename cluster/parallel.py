"""Calls that depend on nothing but their arguments, on all cores of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from cluster import rayenv


class WorkerDied(RuntimeError):
    """A worker died of something that its call did not raise (memory, a signal), also when it was tried again."""


def each(call: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], workers: int | None) -> Iterator[Any]:
    """The results of `call(*one)` for each of `arguments`, as they come; at most `workers` are under way at once.

    A Ray of this machine works them off. What a call raises is raised here, and the rest is given up. Raises WorkerDied
    when that is not what ended it.
    """
    with rayenv.session(workers) as capacity:
        remote = ray.remote(num_cpus=1, max_retries=3, retry_exceptions=False)(call)
        waiting: list[Any] = []
        for one in arguments:
            waiting.append(remote.remote(*one))
            if len(waiting) >= capacity.workers:
                done, waiting = ray.wait(waiting, num_returns=1)
                yield _result(done[0])
        while waiting:
            done, waiting = ray.wait(waiting, num_returns=1)
            yield _result(done[0])


def _result(reference: Any) -> Any:
    try:
        return ray.get(reference)
    except RayTaskError:
        raise
    except RayError as error:
        raise WorkerDied(
            f"a worker died ({type(error).__name__}): give it more memory, then do the same again"
        ) from error

"""Calls that depend on nothing but their arguments, side by side on Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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


def gathered(
    call: Callable[..., Any],
    shared: Any,
    arguments: Sequence[tuple[Any, ...]],
    *,
    workers: int | None = None,
    address: str | None = None,
    memory: int = 0,
    advance: Callable[[int], None] = lambda _: None,
) -> list[Any]:
    """The results of `call(shared, *one)` in the order of `arguments`, whatever the number of workers.

    `shared` travels once. At most `workers` calls are under way at once, and of those that each need `memory` bytes
    only as many as a machine holds. `advance` is told how many are done. What a call raises is raised here, and the
    rest is given up. Raises WorkerDied, and ConnectionError as cluster.rayenv.session.
    """
    results: list[Any] = [None] * len(arguments)
    with rayenv.session(workers, address) as capacity:
        reserved = min(memory, rayenv.largest_memory())
        remote = ray.remote(num_cpus=1, max_retries=3, retry_exceptions=False, memory=reserved or None)(call)
        held = ray.put(shared)
        places: dict[Any, int] = {}
        done = 0
        for place, one in enumerate(arguments):
            places[remote.remote(held, *one)] = place
            while len(places) >= (capacity.workers if place + 1 < len(arguments) else 1):
                over, _ = ray.wait(list(places), num_returns=1)
                results[places.pop(over[0])] = _result(over[0])
                done += 1
                advance(done)
    return results


def _result(reference: Any) -> Any:
    try:
        return ray.get(reference)
    except RayTaskError:
        raise
    except RayError as error:
        raise WorkerDied(
            f"a worker died ({type(error).__name__}): give it more memory, then do the same again"
        ) from error

"""Calls that depend on nothing but their arguments, on all cores of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import ray

from cluster import rayenv


def each(call: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], workers: int | None) -> Iterator[Any]:
    """The results of `call(*one)` for each of `arguments`, as they come; at most `workers` are under way at once.

    A Ray of this machine works them off. What a call raises is raised here, and the rest is given up.
    """
    with rayenv.session(workers) as capacity:
        remote = ray.remote(num_cpus=1, max_retries=3, retry_exceptions=False)(call)
        waiting: list[Any] = []
        for one in arguments:
            waiting.append(remote.remote(*one))
            if len(waiting) >= capacity.workers:
                done, waiting = ray.wait(waiting, num_returns=1)
                yield ray.get(done[0])
        while waiting:
            done, waiting = ray.wait(waiting, num_returns=1)
            yield ray.get(done[0])

"""Where Ray comes from: one of our own on this machine, or a cluster that runs already."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import ray

WORKER_ENV = {
    "POLARS_MAX_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "MIMALLOC_PURGE_DELAY": "0",
}
"""A shard has one core, and what Arrow frees goes back at once: set before a worker imports anything."""

OBJECT_STORE_BYTES = 128 * 2**20
"""Stages are handed paths, not data. What a training shares with its folds may be larger than this: Ray keeps it in a
file of its session's folder, which workers map as they would the store (tests/cluster/test_parallel.py)."""

OOM_RETRIES = 2
"""Ray retries a task that runs out of memory without end by default; we bisect it."""


@dataclass(frozen=True)
class Capacity:
    """What a Ray has: how many shards it can hold at once, its GPUs and its machines."""

    workers: int
    gpus: float
    machines: int = 1


@contextmanager
def session(workers: int | None = None, address: str | None = None) -> Iterator[Capacity]:
    """Ray for the time of a run: shut down afterwards, unless this process had it running before.

    Without `address` a Ray is started on this machine and no other is looked for. `workers` None means as many as the
    cluster (the machine) has CPUs. Raises ConnectionError when nothing answers at `address`.
    """
    ours = not ray.is_initialized()
    if ours:
        _start(workers, address)
    try:
        resources = ray.cluster_resources()
        machines = sum(1 for node in ray.nodes() if node["Alive"])
        yield Capacity(workers or max(1, int(resources.get("CPU", 1))), resources.get("GPU", 0.0), machines)
    finally:
        if ours:
            ray.shutdown()


def largest_memory() -> int:
    """Bytes that the largest machine of the running Ray gives to tasks: one that asks for more would wait for ever."""
    return int(max((node["Resources"].get("memory", 0) for node in ray.nodes() if node["Alive"]), default=0))


def _start(workers: int | None, address: str | None) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    common = {
        "runtime_env": {"env_vars": WORKER_ENV},
        "logging_level": logging.ERROR,
        "log_to_driver": False,
    }
    if address is not None:
        try:
            ray.init(address=address, **common)
        except ConnectionError as error:
            # Ray starts clusters with a token, and shows it to no address that it is given, unless it is told to.
            raise ConnectionError(
                f"no Ray lets us in at {address}: is it there? Where it asks for a token, as Ray does by default, set "
                "RAY_AUTH_MODE=token, with the cluster's token in ~/.ray/auth_token or RAY_AUTH_TOKEN"
            ) from error
        return
    ray.init(
        address="local",
        num_cpus=workers or os.cpu_count(),
        include_dashboard=False,
        object_store_memory=OBJECT_STORE_BYTES,
        _system_config={"task_oom_retries": OOM_RETRIES},
        **common,
    )

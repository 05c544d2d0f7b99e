"""One trivial task on a Ray of this machine: the program that `slatemill doctor` gives a time limit."""

from __future__ import annotations

import ray

from cluster import rayenv


def probe() -> None:
    """Starts a Ray, works off one task, and ends it. Raises what Ray raises."""
    with rayenv.session(workers=1):
        answer = ray.get(ray.remote(num_cpus=1)(_one_more).remote(1))
    if answer != 2:
        raise RuntimeError(f"the task answered {answer}, not 2")


def _one_more(number: int) -> int:
    return number + 1


if __name__ == "__main__":
    probe()

"""Calls side by side: all results, what a call raises, and a worker that dies."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

from cluster import rayenv
from cluster.parallel import WorkerDied, each, gathered

pytestmark = pytest.mark.cluster


# Functions of a function: sent to the workers whole, for they cannot import a test.
def test_every_result_comes_and_what_a_call_raises_is_raised_here(local_ray):
    def square(number: int) -> int:
        if number == 7:
            raise ValueError("seven")
        return number * number

    assert sorted(each(square, [(number,) for number in range(7)], workers=2)) == [0, 1, 4, 9, 16, 25, 36]
    assert list(each(square, [], workers=2)) == []
    with pytest.raises(ValueError, match="seven"):
        list(each(square, [(1,), (7,)], workers=1))


def test_a_worker_that_always_dies_is_said_to_have_died(local_ray):
    def dies() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(WorkerDied, match="then do the same again"):
        list(each(dies, [()], workers=1))


def test_what_is_gathered_stands_in_the_order_of_the_arguments_and_reads_what_is_shared(local_ray):
    def later_first(shared: list[int], place: int) -> int:
        time.sleep(0.3 if place == 0 else 0.0)
        return shared[place] * 10

    told: list[int] = []
    found = gathered(later_first, [5, 6, 7, 8], [(place,) for place in range(4)], workers=2, advance=told.append)
    assert found == [50, 60, 70, 80]
    assert told == [1, 2, 3, 4]
    assert gathered(later_first, [], [], workers=2) == []


def test_what_is_shared_may_be_larger_than_the_store_of_ray(local_ray):
    def last(shared: np.ndarray, _: int) -> int:
        return int(shared[-1])

    shared = np.full(rayenv.OBJECT_STORE_BYTES + 2**23, 7, np.uint8)
    assert gathered(last, shared, [(1,), (2,)], workers=2) == [7, 7]


def test_a_call_that_wants_more_memory_than_any_machine_has_is_run_alone_and_does_not_wait_for_ever(local_ray):
    def double(shared: int, number: int) -> int:
        return shared * number

    assert gathered(double, 2, [(1,), (2,)], workers=2, memory=2**60) == [2, 4]


def test_gathering_ends_with_what_a_call_raises_or_with_the_worker_that_dies(local_ray):
    def fails(_: None, kill: bool) -> None:
        if kill:
            os.kill(os.getpid(), signal.SIGKILL)
        raise ValueError("eight")

    with pytest.raises(ValueError, match="eight"):
        gathered(fails, None, [(False,)], workers=1)
    with pytest.raises(WorkerDied, match="then do the same again"):
        gathered(fails, None, [(True,)], workers=1)

"""Calls side by side: all results, what a call raises, and a worker that dies."""

from __future__ import annotations

import os
import signal

import pytest

from cluster.parallel import WorkerDied, each

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

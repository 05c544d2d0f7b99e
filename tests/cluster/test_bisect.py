from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.bisect import Bisection

pytestmark = pytest.mark.flash


def probe(bisection: Bisection, deadly: set[int]) -> list[range]:
    """Answers every probe as a shard would in which `deadly` kill their worker."""
    probed = []
    while (part := bisection.part) is not None:
        probed.append(part)
        bisection.take_in(survived=deadly.isdisjoint(part))
    return probed


@given(st.integers(1, 300), st.data())
def test_exactly_the_deadly_units_are_found(units, data):
    deadly = data.draw(st.sets(st.integers(0, units - 1), max_size=4))
    bisection = Bisection(units, limit=4)
    probe(bisection, deadly)
    assert (set(bisection.culprits), bisection.gave_up) == (deadly, False)


@given(st.integers(2, 10_000), st.data())
def test_one_deadly_unit_takes_two_probes_a_halving(units, data):
    probed = probe(Bisection(units, limit=4), {data.draw(st.integers(0, units - 1))})
    assert len(probed) <= 2 * (units - 1).bit_length()


@given(st.integers(5, 100))
def test_gives_up_when_more_units_than_the_limit_are_deadly(units):
    bisection = Bisection(units, limit=4)
    probe(bisection, set(range(units)))
    assert bisection.gave_up
    assert len(bisection.culprits) == 5


def test_nothing_is_probed_of_nothing():
    assert Bisection(0, limit=4).part is None

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.recall.neighbours import neighbour_places, window_sum

pytestmark = pytest.mark.flash

SESSIONS = st.lists(st.integers(0, 3), max_size=12).map(sorted)


@settings(max_examples=80)
@given(SESSIONS, st.integers(1, 4))
def test_neighbours_are_of_the_same_session_and_every_one_comes_once(sessions: list[int], reach: int) -> None:
    found = {
        (turn, int(place)): distance
        for distance, places in neighbour_places(np.array(sessions, np.int64), reach)
        for turn, place in enumerate(places)
        if place >= 0
    }
    assert found == {
        (a, b): abs(a - b)
        for a in range(len(sessions))
        for b in range(len(sessions))
        if 1 <= abs(a - b) <= reach and sessions[a] == sessions[b]
    }


@settings(max_examples=80)
@given(SESSIONS, st.integers(1, 4), st.integers(0, 2**31))
def test_a_window_sums_a_turn_and_its_neighbours(sessions: list[int], reach: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=len(sessions))
    expected = [
        sum(values[b] for b in range(len(sessions)) if abs(a - b) <= reach and sessions[a] == sessions[b])
        for a in range(len(sessions))
    ]
    np.testing.assert_allclose(window_sum(values, np.array(sessions, np.int64), reach), expected, atol=1e-12)

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.recall.late.matches import Matches
from pipeline.recall.late.views import VIEWS

pytestmark = pytest.mark.flash

Row = list[float]


def mean(values: Row, weights: Row) -> float:
    total = sum(weights)
    if total <= 0 or any(math.isnan(value) for value in values):
        return math.nan
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / total


def slowly(view: str, matches: Matches) -> Row:
    """The view in plain loops over tokens and turns; `near` has a test of its own."""
    own, near, wide = matches.own, matches.near(1, 0.8), matches.near(2, 0.9)
    weights, content = matches.weights.tolist(), matches.is_content.tolist()
    rows = range(len(weights))
    known = [turn for turn in range(own.shape[1]) if not np.isnan(near[:, turn]).any()]
    whole = [turn for turn in range(own.shape[1]) if not np.isnan(own[:, turn]).any()]

    def of_turn(turn: int) -> float:
        of_content = [w if c else 0.0 for w, c in zip(weights, content, strict=True)]
        means = {
            "interaction": (near, weights),
            "own": (own, weights),
            "window": (wide, weights),
            "content": (near, of_content),
            "unweighted": (own, [1.0] * len(weights)),
        }
        if view in means:
            values, of_token = means[view]
            return mean(values[:, turn].tolist(), of_token)
        if view == "weakest":
            asked = [near[row, turn] for row in rows if content[row]]
            return min(asked) if asked and turn in known else math.nan
        if view == "standard":
            lifted = []
            for row in rows:
                column = [near[row, other] for other in known]
                spread = statistics.pstdev(column) if column else 0.0
                middle = statistics.fmean(column) if column else math.nan
                lifted.append((near[row, turn] - middle) / (spread if spread > 1e-12 else 1.0))
            return mean(lifted, weights)
        assert view == "leading"
        if turn not in whole:
            return math.nan
        best = [max(own[row, other] for other in whole) for row in rows]
        return mean([float(own[row, turn] >= best[row] - 0.02) for row in rows], weights)

    return [of_turn(turn) for turn in range(own.shape[1])]


@settings(max_examples=150)
@given(st.data())
@pytest.mark.parametrize("view", sorted(VIEWS))
def test_a_view_is_what_a_loop_makes_of_the_matches(view: str, data: st.DataObject) -> None:
    n_tokens, n_turns = data.draw(st.integers(1, 4)), data.draw(st.integers(0, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    own = rng.uniform(0, 1, (n_tokens, n_turns))
    own[:, [turn for turn in range(n_turns) if data.draw(st.integers(0, 4)) == 0]] = np.nan
    is_content = np.array(data.draw(st.lists(st.booleans(), min_size=n_tokens, max_size=n_tokens)))
    session = np.array(sorted(data.draw(st.lists(st.integers(0, 2), min_size=n_turns, max_size=n_turns))), np.int64)
    place = np.cumsum(rng.integers(1, 3, n_turns))
    matches = Matches(own, rng.uniform(0.1, 3, n_tokens), is_content, session, place)
    found = VIEWS[view](matches)
    assert found.shape == (n_turns,)
    np.testing.assert_allclose(found, slowly(view, matches), atol=1e-6)

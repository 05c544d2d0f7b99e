from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.recall.late import matches as module
from pipeline.recall.late.codes import decode, encode
from pipeline.recall.late.matches import Matches, best_cosines
from pipeline.recall.late.turn_codes import TurnCodes, together

pytestmark = pytest.mark.flash

LENGTHS = st.lists(st.integers(0, 5), max_size=12)


def codes_of(lengths: list[int], seed: int) -> TurnCodes:
    rng = np.random.default_rng(seed)
    if not lengths:
        return TurnCodes(encode(np.zeros((0, 8), np.float32)), np.zeros(1, np.int64))
    return together([encode(rng.normal(size=(length, 8)).astype(np.float32)) for length in lengths])


@settings(max_examples=60)
@given(LENGTHS, st.integers(0, 4), st.sampled_from([1, 3, 1 << 15]), st.integers(0, 2**31))
def test_best_cosines_are_those_of_a_loop_in_blocks_of_any_size(
    lengths: list[int], n_asked: int, block: int, seed: int
) -> None:
    turns, asked = codes_of(lengths, seed), encode(np.random.default_rng(seed + 1).normal(size=(n_asked, 8)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TOKEN_BLOCK", block)
        found = best_cosines(asked, turns)
    assert found.shape == (n_asked, len(lengths))
    wide = [decode(one).astype(np.float64) for one in (asked, turns.codes)]
    for token in range(n_asked):
        for turn, (start, stop) in enumerate(zip(turns.offsets[:-1], turns.offsets[1:], strict=True)):
            cosines = [float(wide[0][token] @ wide[1][k]) for k in range(start, stop)]
            if cosines:
                assert found[token, turn] == pytest.approx(max(cosines), abs=1e-5)
            else:
                assert np.isnan(found[token, turn])


@settings(max_examples=100)
@given(st.data())
def test_near_takes_the_best_of_the_candidates_that_stand_around_a_turn_in_its_session(data: st.DataObject) -> None:
    sessions = sorted(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=14)))
    places = sorted(data.draw(st.sets(st.integers(0, len(sessions) - 1), min_size=1)))
    reach, discount = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([0.8, 0.9]))
    cosines = st.one_of(st.just(float("nan")), st.floats(0, 1))
    own = np.array(data.draw(st.lists(cosines, min_size=len(places), max_size=len(places))))[None, :]
    matches = Matches(
        own, np.ones(1), np.ones(1, np.bool_), np.array([sessions[place] for place in places]), np.array(places)
    )
    found = matches.near(reach, discount)[0]
    for column, place in enumerate(places):
        around = [
            discount ** abs(other - place) * own[0, k]
            for k, other in enumerate(places)
            if abs(other - place) <= reach and sessions[other] == sessions[place] and not np.isnan(own[0, k])
        ]
        assert found[column] == pytest.approx(max(around)) if around else np.isnan(found[column])

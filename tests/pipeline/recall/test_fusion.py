from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.recall.fusion import pool_order, ranks, reciprocal_rank_fusion

SCORES = st.lists(st.tuples(st.integers(-3, 3).map(float), st.booleans()), max_size=20)


@given(SCORES)
def test_what_is_recalled_is_ranked_by_score_then_position_and_nothing_else_is(
    drawn: list[tuple[float, bool]],
) -> None:
    scores = np.array([score if recalled else np.nan for score, recalled in drawn], dtype=np.float64)
    recalled = ~np.isnan(scores)
    rank = ranks(scores, recalled)
    assert np.isnan(rank[~recalled]).all()
    expected = sorted(np.flatnonzero(recalled).tolist(), key=lambda turn: (-scores[turn], turn))
    assert [rank[turn] for turn in expected] == list(range(1, len(expected) + 1))


@pytest.mark.flash
def test_fusion_sums_reciprocal_ranks() -> None:
    none = np.nan
    fused = reciprocal_rank_fusion([np.array([1, 2, none, none]), np.array([3, 1, 2, none])], [1, 1], k=60)
    assert fused.tolist() == pytest.approx([1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 62, 0], abs=5e-7)


@pytest.mark.flash
def test_of_equal_fused_scores_the_earlier_turn_comes_first_and_what_none_recalled_last_the_newest_first() -> None:
    assert pool_order(np.array([0, 0.1, 0, 0.2, 0.1, 0])).tolist() == [3, 1, 4, 5, 2, 0]


@pytest.mark.flash
def test_a_fused_score_is_rounded_so_that_what_is_stored_gives_the_order() -> None:
    fused = reciprocal_rank_fusion([np.array([7])], [1], k=60)
    assert fused.tolist() == [0.014925]

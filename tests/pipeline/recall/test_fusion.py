from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.recall.fusion import ranks, reciprocal_rank_fusion

SCORES = st.lists(st.one_of(st.integers(-3, 3).map(float), st.just(float("nan"))), max_size=20)


@given(SCORES)
def test_ranks_are_a_permutation_ordered_by_score_then_position(scores: list[float]) -> None:
    rank = ranks(np.array(scores, dtype=np.float64)).tolist()
    assert sorted(rank) == list(range(1, len(scores) + 1))
    by_rank = [scores[rank.index(place)] for place in range(1, len(scores) + 1)]
    keys = [(np.isnan(score), -np.nan_to_num(score), rank.index(i + 1)) for i, score in enumerate(by_rank)]
    assert keys == sorted(keys)


@pytest.mark.flash
def test_fusion_sums_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion([np.array([1, 2]), np.array([3, 1])], k=60)
    assert fused.tolist() == pytest.approx([1 / 61 + 1 / 63, 1 / 62 + 1 / 61], abs=5e-7)


@pytest.mark.flash
def test_a_fused_score_is_rounded_so_that_what_is_stored_gives_the_order() -> None:
    fused = reciprocal_rank_fusion([np.array([7])], k=60)
    assert fused.tolist() == [0.014925]

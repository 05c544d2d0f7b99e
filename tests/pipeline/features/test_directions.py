from __future__ import annotations

import pytest

from pipeline.features.directions import directions
from pipeline.features.registry import AGENTMEMREC

pytestmark = pytest.mark.flash


def test_relevance_has_a_direction_and_what_a_turn_is_has_none():
    rising, falling = directions(AGENTMEMREC)
    assert set(rising) == {"bm25_score", "dense_score", "cross_encoder"}
    assert set(falling) == {"pool_position", "bm25_rank", "dense_rank"}
    assert directions(["role", "n_tokens", "age_days"]) == ((), ())

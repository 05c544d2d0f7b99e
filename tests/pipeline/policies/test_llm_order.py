from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from pipeline import schemas
from pipeline.policies.candidates import own_candidates
from pipeline.policies.orders import LLM_TOP, PolicyError, llm_order
from pipeline.policies.registry import LLM_ORDER, known_policies, policies_of, why_unknown

pytestmark = pytest.mark.flash

KEY = {"request_id": "r", "history_id": "h", "session_index": 0}


def features(size: int) -> pl.DataFrame:
    rows = [{**KEY, "turn_index": place, "pool_position": place} for place in range(1, size + 1)]
    return pl.DataFrame(rows, schema_overrides={"turn_index": pl.Int32, "pool_position": pl.Int32})


def taught(scores: dict[int, float | None]) -> pl.DataFrame:
    rows = [
        {**KEY, "turn_index": turn, "score": score, "status": "ok", "reason": "", "from_logprobs": False}
        for turn, score in scores.items()
    ]
    return pl.DataFrame(rows).to_arrow().cast(schemas.TEACHER_SCORES)


def ordered(size: int, scores: dict[int, float | None]) -> list[int]:
    turns = pl.DataFrame(schemas.TURNS.empty_table())
    own = own_candidates([LLM_ORDER], features(size), None, {}, turns.to_arrow(), taught(scores))[LLM_ORDER]
    found = llm_order(own)
    return [own["turn_index"][int(row)] for row in found.rows]


def test_the_rated_come_first_by_their_score_then_the_rest_in_pool_order():
    assert ordered(5, {1: 2.0, 2: 7.5, 3: 2.0}) == [2, 1, 3, 4, 5]


def test_one_without_a_score_comes_before_the_rest_of_the_pool():
    assert ordered(5, {1: None, 2: 0.0, 3: 1.0}) == [3, 2, 1, 4, 5]


def test_what_is_rated_beyond_the_first_64_stays_where_it_is():
    scores = dict.fromkeys(range(1, 71), 5.0) | {LLM_TOP: 9.0, LLM_TOP + 1: 10.0}
    assert ordered(70, scores) == [LLM_TOP, *range(1, LLM_TOP), *range(LLM_TOP + 1, 71)]


def test_scores_that_are_shown_are_the_teachers():
    own = features(3).with_columns(teacher_score=pl.Series([1.0, None, 3.0]))
    np.testing.assert_array_equal(llm_order(own).scores, [1.0, np.nan, 3.0])


def test_only_a_profile_with_a_teacher_may_name_it():
    assert LLM_ORDER in known_policies(["bm25"], with_cross_encoder=False, with_teacher=True)
    known = known_policies(["bm25"], with_cross_encoder=True)
    assert LLM_ORDER not in known
    assert "needs a teacher" in (why_unknown(LLM_ORDER, known) or "")
    with pytest.raises(PolicyError, match="teacher_score"):
        policies_of([LLM_ORDER], None, features(2).columns)[LLM_ORDER].order(features(2))

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import schemas
from pipeline.features.taught import EDGES, GAINS, grades, taught_groups

pytestmark = pytest.mark.flash

NAMES = ("pool_position", "bm25_score")


def features(*pools: int) -> pa.Table:
    rows = [
        {"request_id": f"r{k}", "history_id": "h", "session_index": 0, "turn_index": turn, "pool_position": turn + 1,
         "bm25_score": 1.0 / (turn + 1)}
        for k, size in enumerate(pools)
        for turn in range(size)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows[::-1], schemas.features(NAMES))


def scores(*rated: tuple[str, int, float | None]) -> pa.Table:
    rows = [
        {"request_id": request, "history_id": "h", "session_index": 0, "turn_index": turn, "score": score,
         "status": "ok", "reason": "", "from_logprobs": True}
        for request, turn, score in rated
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schemas.TEACHER_SCORES)


def test_rated_candidates_stand_in_groups_in_pool_order_with_score_and_grade():
    found = taught_groups(features(3, 2), scores(("r1", 1, 9.5), ("r1", 0, 0.0), ("r0", 2, 4.0), ("r0", 0, 3.9)), NAMES)
    groups = found.groups
    assert groups.request_ids == ["r0", "r1"]
    assert groups.group_sizes.tolist() == [2, 2]
    assert groups.matrix[:, 0].tolist() == [1, 3, 1, 2]
    assert found.scores.tolist() == pytest.approx([3.9, 4.0, 0.0, 9.5])
    assert groups.relevance.tolist() == [1, 2, 0, 4]


def test_what_is_not_rated_teaches_nothing_and_is_counted():
    found = taught_groups(features(2), scores(("r0", 0, 5.0), ("r0", 1, None), ("r0", 7, 5.0), ("r9", 0, 1.0)), NAMES)
    assert (len(found.scores), found.n_failed, found.n_unknown) == (1, 1, 2)
    nothing = taught_groups(features(2), scores(), NAMES)
    assert (len(nothing.scores), nothing.groups.request_ids) == (0, [])


def test_a_candidate_that_is_rated_twice_is_refused():
    with pytest.raises(ValueError, match="rated twice"):
        taught_groups(features(2), scores(("r0", 0, 5.0), ("r0", 0, 4.0)), NAMES)


@given(st.lists(st.floats(0, 10), min_size=2))
def test_a_higher_score_has_no_lower_grade_and_every_grade_a_gain(rated):
    ordered = np.sort(np.array(rated))
    found = grades(ordered)
    assert (np.diff(found) >= 0).all()
    assert 0 <= found.min() <= found.max() < len(GAINS) == len(EDGES) + 1

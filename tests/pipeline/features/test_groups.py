from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import schemas
from pipeline.features.groups import MAX_GROUP_ROWS, training_groups
from pipeline.features.registry import AGENTMEMREC
from pipeline.schemas import LABELS

NAMES = ("pool_position", "bm25_score", "cross_encoder")


def features(pools: dict[tuple[str, str], list[int]]) -> pa.Table:
    """Candidates by (history, request): their turns in pool order, handed over last first."""
    rows = [
        {
            "history_id": history,
            "request_id": request,
            "session_index": 0,
            "turn_index": turn,
            "pool_position": position,
            "bm25_score": 0.5 if turn else None,
        }
        for (history, request), turns in pools.items()
        for position, turn in enumerate(turns, start=1)
    ]
    return pa.Table.from_pylist(rows[::-1], schema=schemas.features(AGENTMEMREC))


def labels(evidence: list[tuple[str, str, int]]) -> pa.Table:
    rows = [{"history_id": h, "request_id": r, "session_index": 0, "turn_index": turn} for h, r, turn in evidence]
    return pa.Table.from_pylist(rows, schema=LABELS)


@pytest.mark.flash
def test_groups_follow_each_other_in_pool_order_and_null_is_nan() -> None:
    found = training_groups(
        features({("h", "b"): [3, 0], ("h", "a"): [1, 2, 3]}), labels([("h", "a", 3), ("h", "b", 0)]), NAMES
    )
    assert found.request_ids == ["a", "b"]
    assert found.history_ids == ["h", "h"]
    assert found.group_sizes.tolist() == [3, 2]
    assert found.relevance.tolist() == [0, 0, 1, 0, 1]
    expected = [[1, 0.5, np.nan], [2, 0.5, np.nan], [3, 0.5, np.nan], [1, 0.5, np.nan], [2, np.nan, np.nan]]
    np.testing.assert_array_equal(found.matrix, np.array(expected, dtype=np.float32))
    assert found.matrix.dtype == np.float32


@pytest.mark.flash
def test_requests_that_teach_nothing_are_left_out_and_counted() -> None:
    pools = {("h", "kept"): [1, 2], ("h", "missed"): [1, 2], ("h", "unlabelled"): [1]}
    found = training_groups(features(pools), labels([("h", "kept", 1), ("h", "missed", 9)]), NAMES)
    assert found.request_ids == ["kept"]
    assert (found.n_requests_without_labels, found.n_requests_without_evidence_in_pool) == (1, 1)


@pytest.mark.flash
def test_a_request_id_used_in_two_histories_makes_two_groups() -> None:
    pools = {("g", "r"): [1], ("h", "r"): [1, 2]}
    found = training_groups(features(pools), labels([("g", "r", 1), ("h", "r", 2)]), NAMES)
    assert found.history_ids == ["g", "h"]
    assert found.group_sizes.tolist() == [1, 2]


@pytest.mark.flash
def test_evidence_named_twice_adds_no_row() -> None:
    found = training_groups(features({("h", "r"): [1, 2]}), labels([("h", "r", 1), ("h", "r", 1)]), NAMES)
    assert found.relevance.tolist() == [1, 0]


@pytest.mark.flash
def test_nothing_to_learn_from_is_no_error() -> None:
    found = training_groups(schemas.features(AGENTMEMREC).empty_table(), LABELS.empty_table(), NAMES)
    assert found.matrix.shape == (0, 3)
    assert found.group_sizes.tolist() == []


@pytest.mark.flash
def test_what_a_ranker_would_misread_is_refused() -> None:
    pool, evidence = features({("h", "r"): [1, 2]}), labels([("h", "r", 1)])
    with pytest.raises(ValueError, match="no such features: \\['colour'\\]"):
        training_groups(pool, evidence, ("colour",))
    with pytest.raises(ValueError, match="there twice"):
        training_groups(pa.concat_tables([pool, pool]), evidence, NAMES)
    with pytest.raises(ValueError, match="at most 10000"):
        training_groups(features({("h", "r"): list(range(MAX_GROUP_ROWS + 1))}), evidence, NAMES)


POOLS = st.dictionaries(
    st.tuples(st.sampled_from("gh"), st.sampled_from("abc")), st.lists(st.integers(0, 5), min_size=1, unique=True)
)


@settings(max_examples=40, deadline=None)
@given(POOLS, st.lists(st.tuples(st.sampled_from("gh"), st.sampled_from("abc"), st.integers(0, 6))))
def test_every_group_is_whole_holds_evidence_and_every_request_is_accounted_for(
    pools: dict[tuple[str, str], list[int]], evidence: list[tuple[str, str, int]]
) -> None:
    found = training_groups(features(pools), labels(evidence), NAMES)
    bounds = np.cumsum([0, *found.group_sizes])
    for k, group in enumerate(zip(found.history_ids, found.request_ids, strict=True)):
        rows = slice(bounds[k], bounds[k + 1])
        expected = [int((*group, turn) in evidence) for turn in pools[group]]
        assert found.relevance[rows].tolist() == expected
        assert found.matrix[rows, 0].tolist() == list(range(1, len(expected) + 1))
        assert sum(expected) > 0
    assert bounds[-1] == len(found.relevance) == len(found.matrix)
    n_left_out = found.n_requests_without_labels + found.n_requests_without_evidence_in_pool
    assert n_left_out + len(found.request_ids) == len(pools)

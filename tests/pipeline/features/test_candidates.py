from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from pipeline import schemas
from pipeline.features.candidates import features
from pipeline.features.registry import AGENTMEMREC
from pipeline.schemas import REQUESTS, TURNS


def candidate(request: str, position: int, turn: int, **more: Any) -> dict[str, Any]:
    key = {"request_id": request, "history_id": "h", "session_index": 0, "turn_index": turn}
    return {**key, "pool_position": position, "rrf_score": 0.01, **more}


def turns(*roles: str) -> pa.Table:
    rows = [
        {"history_id": "h", "session_index": 0, "turn_index": k, "role": role, "text": "x", "n_tokens": 10 + k}
        for k, role in enumerate(roles)
    ]
    return pa.Table.from_pylist(rows, schema=TURNS)


def of(
    rows: list[dict[str, Any]],
    stored: pa.Table,
    names: Sequence[str] = AGENTMEMREC,
    cross_scores: pa.Table | None = None,
) -> pa.Table:
    """The features of candidates of a profile with BM25 and dense recall; requests ask for what they are named."""
    channels = ("bm25", "dense")
    pools = pa.Table.from_pylist(rows, schemas.pools(channels))
    asked = [
        {"request_id": name, "history_id": "h", "mode": "reader", "text": name, "adversarial": False}
        for name in dict.fromkeys(row["request_id"] for row in rows)
    ]
    return features(pools, stored, pa.Table.from_pylist(asked, REQUESTS), names, channels, cross_scores)


@pytest.mark.flash
def test_the_ten_features_in_pool_order() -> None:
    scored = {"bm25_score": 2.5, "bm25_rank": 1, "dense_score": 0.5, "dense_rank": 3, "age_days": 4.0}
    rows = [candidate("r", 2, 1), candidate("r", 1, 2, **scored), candidate("q", 1, 0)]
    found = of(rows, turns("user", "assistant", "tool"))
    assert found.schema.equals(schemas.features(AGENTMEMREC))
    unscored = [None, None, None, None, None]
    assert [[row["request_id"], *(row[name] for name in AGENTMEMREC)] for row in found.to_pylist()] == [
        ["q", 1, *unscored, 0, 0, None, 10],
        ["r", 1, 2.5, 1, 0.5, 3, None, 2, 2, 4.0, 12],
        ["r", 2, *unscored, 1, 1, None, 11],
    ]


@pytest.mark.flash
def test_a_cross_encoder_s_score_goes_to_its_candidate_and_one_without_is_null() -> None:
    rows = [candidate("r", 1, 2), candidate("r", 2, 0), candidate("q", 1, 2)]
    key = {"history_id": "h", "session_index": 0, "turn_index": 2}
    scored = [{**key, "request_id": "q", "cross_encoder": 0.25}, {**key, "request_id": "r", "cross_encoder": 0.5}]
    cross_scores = pa.Table.from_pylist(scored, schemas.CROSS_SCORES)
    found = of(rows, turns("user", "user", "user"), ["pool_position", "cross_encoder"], cross_scores)
    assert found.schema.equals(schemas.features(["cross_encoder"]))
    assert found["request_id"].to_pylist() == ["q", "r", "r"]
    assert found["cross_encoder"].to_pylist() == [0.25, 0.5, None]


@pytest.mark.flash
def test_a_candidate_that_is_no_turn_is_refused() -> None:
    with pytest.raises(ValueError, match="1 candidates are not among the turns"):
        of([candidate("r", 1, 7)], turns("user"))


@pytest.mark.flash
def test_no_candidates_make_an_empty_table_with_the_schema() -> None:
    found = of([], turns("user"))
    assert found.num_rows == 0
    assert found.schema.equals(schemas.features(AGENTMEMREC))

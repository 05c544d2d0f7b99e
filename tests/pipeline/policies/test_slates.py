from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from models.tokens import token_counter
from pipeline import schemas
from pipeline.policies.orders import PolicyError
from pipeline.policies.slates import SlateOptions, oracle_slates, slates

pytestmark = pytest.mark.flash
COUNTER = token_counter("o200k_base")
DAY = {1: datetime(2023, 5, 9, 8, 0, tzinfo=UTC), 2: datetime(2023, 5, 8, 13, 56, tzinfo=UTC)}


def turn(session: int, index: int, text: str, speaker: str | None = None) -> dict:
    return {
        "history_id": "h", "session_index": session, "turn_index": index, "session_time": DAY.get(session),
        "role": "user", "speaker": speaker, "text": text, "n_tokens": COUNTER.count(text),
    }  # fmt: skip


TURNS = pa.Table.from_pylist(
    [turn(1, 0, "I bought a kite."), turn(1, 1, "It is red."), turn(2, 0, "Hello there", "Ana")], schemas.TURNS
)
REQUESTS = pa.Table.from_pylist(
    [
        {"request_id": name, "history_id": "h", "mode": "reader", "text": "?", "adversarial": False}
        for name in ("q1", "q2")
    ],
    schemas.REQUESTS,
)


def candidate(position: int, session: int, index: int) -> dict:
    return {
        "request_id": "q1", "history_id": "h", "session_index": session, "turn_index": index,
        "pool_position": position, "bm25_score": 1.0 * position, "bm25_rank": 4 - position,
    }  # fmt: skip


FEATURES = pa.Table.from_pylist([candidate(1, 1, 1), candidate(2, 2, 0), candidate(3, 1, 0)], schemas.FEATURES)
LABELS = pa.Table.from_pylist(
    [{"request_id": "q1", "history_id": "h", "session_index": 1, "turn_index": 0}], schemas.LABELS
)


class ByLength:
    identity = "by-length"
    feature_names = schemas.FEATURE_NAMES

    def score(self, features, names):
        assert tuple(names) == self.feature_names
        return features[:, 0].astype(np.float64)


def made(policies=("recall_order",), budgets=(100,), ranker=None) -> list[dict]:
    table = slates(REQUESTS, FEATURES, TURNS, SlateOptions(policies, budgets), COUNTER, ranker)
    assert table.schema.equals(schemas.SLATES)
    return table.to_pylist()


def test_sessions_stand_in_time_order_under_their_headers():
    assert made()[0]["text"] == (
        "# 8 May 2023, 13:56\nAna: Hello there\n# 9 May 2023, 08:00\nuser: I bought a kite.\nuser: It is red."
    )


def test_a_request_without_a_pool_has_an_empty_slate():
    empty = made()[1]
    assert (empty["request_id"], empty["text"], empty["n_tokens"], empty["items"]) == ("q2", "", 0, [])


def test_items_name_what_the_text_shows_with_rank_and_characters():
    items = made(("bm25_order",))[0]["items"]
    assert [(i["session_index"], i["turn_index"], i["rank"], i["score"]) for i in items] == [
        (2, 0, 2, 2.0), (1, 0, 1, 3.0), (1, 1, 3, 1.0),
    ]  # fmt: skip
    assert [(i["start"], i["end"], i["resolution"]) for i in items][1] == (0, len("I bought a kite."), "raw")


def test_a_tight_budget_keeps_the_first_of_each_policy():
    rows = made(("recall_order", "bm25_order", "lambdarank"), (22,), ByLength())
    kept = {row["policy"]: [(i["session_index"], i["turn_index"]) for i in row["items"]] for row in rows[:3]}
    assert kept == {"recall_order": [(1, 1)], "bm25_order": [(1, 0)], "lambdarank": [(1, 0)]}
    assert all(row["n_tokens"] == COUNTER.count(row["text"]) <= 22 for row in rows)


def test_the_oracle_takes_gold_first():
    rows = oracle_slates(REQUESTS, FEATURES, TURNS, LABELS, SlateOptions(("oracle",), (22,)), COUNTER).to_pylist()
    assert [(i["session_index"], i["turn_index"]) for i in rows[0]["items"]] == [(1, 0)]


def test_lambdarank_without_a_ranker_is_refused():
    with pytest.raises(PolicyError, match="needs a ranker"):
        made(("lambdarank",))

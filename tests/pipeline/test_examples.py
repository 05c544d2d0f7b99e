from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from word_tokens import WordTokenEncoder

from pipeline import examples as module
from pipeline import schemas
from pipeline.examples import EXAMPLES, examples
from pipeline.recall.late.rescore import FUNCTION_WEIGHT
from pipeline.schemas import LABELS, REQUESTS, TURNS
from pipeline.terms import terms
from pipeline.tokens import request_tokens

pytestmark = pytest.mark.flash

WORDS = ["kite", "lamp", "moss", "the"]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
Row = dict[str, Any]


@st.composite
def stories(draw: st.DrawFn) -> tuple[list[Row], list[Row], list[Row], list[Row]]:
    """Turns of two histories, requests over them, evidence, and pools in an order of their own."""
    turns = [
        {
            "history_id": history,
            "session_index": k // 2,
            "turn_index": k % 2,
            "role": "user",
            "text": text,
            "n_tokens": 1,
        }
        for history in "gh"
        for k, text in enumerate(draw(st.lists(TEXT, min_size=1, max_size=5)))
    ]
    requests = [
        {
            **{"request_id": f"r{k}", "history_id": draw(st.sampled_from("gh")), "mode": "reader"},
            **{"text": draw(TEXT), "adversarial": draw(st.integers(0, 4)) == 0},
        }
        for k in range(draw(st.integers(1, 4)))
    ]
    labels, pools = [], []
    for request in requests:
        own = [turn for turn in turns if turn["history_id"] == request["history_id"]]
        name = {"request_id": request["request_id"]}
        keys = [{**name, **{key: turn[key] for key in schemas.TURN_KEY}} for turn in own]
        labels += draw(st.lists(st.sampled_from(keys), max_size=3))
        pooled = draw(st.permutations(keys))[: draw(st.integers(0, len(keys)))]
        pools += [{**key, "pool_position": place, "rrf_score": 0.0} for place, key in enumerate(pooled, start=1)]
    return turns, requests, labels, pools


def slowly(turns: list[Row], requests: list[Row], labels: list[Row], pools: list[Row], mined: int) -> list[Row]:
    said = {tuple(turn[key] for key in schemas.TURN_KEY): turn["text"] for turn in turns}
    found = []
    for request in sorted(requests, key=lambda row: (row["history_id"], row["request_id"])):
        gold = sorted({tuple(row[key] for key in schemas.TURN_KEY) for row in labels if of(request, row)})
        pool = sorted((row for row in pools if of(request, row)), key=lambda row: row["pool_position"])
        keys = [tuple(row[key] for key in schemas.TURN_KEY) for row in pool]
        own = [text.split() for key, text in said.items() if key[0] == request["history_id"]]
        weights = []
        for word in request["text"].split():
            holding = sum(word in words for words in own)
            weights.append(
                math.log1p((len(own) - holding + 0.5) / (holding + 0.5)) if word != "the" else FUNCTION_WEIGHT
            )
        found += [
            {
                **{name: request[name] for name in ("history_id", "request_id")},
                "request": request["text"],
                "positive": said[key],
                "negatives": [said[other] for other in keys if other not in gold][:mined],
                "weights": pytest.approx(weights),
            }
            for key in gold
            if not request["adversarial"]
        ]
    return found


def of(request: Row, row: Row) -> bool:
    return row["request_id"] == request["request_id"]


@settings(max_examples=80)
@given(stories(), st.integers(1, 3))
def test_examples_are_those_of_a_loop(story: tuple[list[Row], ...], mined: int) -> None:
    turns, requests, labels, pools = story
    turn_table, asked = pa.Table.from_pylist(turns, TURNS), pa.Table.from_pylist(requests, REQUESTS)
    tokens, _ = request_tokens(asked, WordTokenEncoder())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MINED", mined)
        found = examples(
            asked,
            pa.Table.from_pylist(labels, LABELS),
            pa.Table.from_pylist(pools, schemas.pools(())),
            turn_table,
            terms(turn_table),
            tokens,
        )
    assert dict(found.schema) == EXAMPLES
    assert found.to_dicts() == slowly(turns, requests, labels, pools, mined)


def test_a_request_without_tokens_has_no_weights() -> None:
    turn = {"history_id": "h", "session_index": 0, "turn_index": 0}
    turns = pa.Table.from_pylist([{**turn, "role": "user", "text": "kite", "speaker": "Ada", "n_tokens": 1}], TURNS)
    request = {"request_id": "r", "history_id": "h", "mode": "reader", "text": "nan kite", "adversarial": False}
    asked = pa.Table.from_pylist([request], REQUESTS)
    tokens, _ = request_tokens(asked, WordTokenEncoder())
    labels = pa.Table.from_pylist([{"request_id": "r", **turn}], LABELS)
    found = examples(asked, labels, schemas.pools(()).empty_table(), turns, terms(turns), tokens)
    assert found.select("positive", "negatives", "weights").rows() == [("Ada: kite", [], [])]

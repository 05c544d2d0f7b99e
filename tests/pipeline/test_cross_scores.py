from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pytest

from pipeline import schemas
from pipeline.cross_scores import cross_scores

CHANNELS = ("bm25",)


class SharedWords:
    """The score of a pair is the number of words that its texts share; remembers what it was given."""

    name = "words"

    def __init__(self) -> None:
        self.calls: list[tuple[list[str], list[str]]] = []

    def score(
        self, requests: Sequence[str], turns: Sequence[str], pairs: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float32]:
        self.calls.append((list(requests), list(turns)))
        asked, told = [set(text.split()) for text in requests], [set(text.split()) for text in turns]
        shared = [np.nan if "nan" in told[turn] else len(asked[request] & told[turn]) for request, turn in pairs]
        return np.array(shared, np.float32)


def requests(*texts: str) -> pa.Table:
    rows = [
        {"request_id": f"r{k}", "history_id": "h", "mode": "reader", "text": text, "adversarial": False}
        for k, text in enumerate(texts)
    ]
    return pa.Table.from_pylist(rows[::-1], schema=schemas.REQUESTS)


def turns(*texts: str, speaker: str | None = None) -> pa.Table:
    key = {"history_id": "h", "session_index": 0, "role": "user", "speaker": speaker, "n_tokens": 1}
    rows = [{**key, "turn_index": k, "text": text} for k, text in enumerate(texts)]
    return pa.Table.from_pylist(rows[::-1], schema=schemas.TURNS)


def pools(*places: Sequence[int]) -> pa.Table:
    """The pool of each request: its turns in order."""
    rows = [
        {"request_id": f"r{k}", "history_id": "h", "session_index": 0, "turn_index": turn, "pool_position": place,
         "rrf_score": 0.1}
        for k, pool in enumerate(places)
        for place, turn in enumerate(pool, start=1)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows[::-1], schema=schemas.pools(CHANNELS))


def of(*sigmoids_of: float) -> list[float]:
    return [pytest.approx(1 / (1 + np.exp(-score)), abs=1e-6) for score in sigmoids_of]


@pytest.mark.flash
def test_every_candidate_has_the_sigmoid_of_its_score_in_pool_order_from_one_call() -> None:
    scorer = SharedWords()
    stored = turns("a b", "a", "c", "b c")
    table, quarantine = cross_scores(pools([1, 0], [3, 1, 0]), requests("a b", "b c"), stored, scorer, None)
    assert table.schema.equals(schemas.CROSS_SCORES)
    rows = table.to_pylist()
    assert [(row["request_id"], row["turn_index"]) for row in rows] == [
        ("r0", 1), ("r0", 0), ("r1", 3), ("r1", 1), ("r1", 0)
    ]  # fmt: skip
    assert [row["cross_encoder"] for row in rows] == of(1, 2, 2, 0, 1)
    ((asked, told),) = scorer.calls
    assert (sorted(asked), sorted(told)) == (["a b", "b c"], ["a", "a b", "b c"]), "what no pool holds is not read"
    assert quarantine.num_rows == 0
    assert quarantine.schema.equals(schemas.QUARANTINE)


@pytest.mark.flash
def test_the_indexed_text_of_a_turn_is_read() -> None:
    scorer = SharedWords()
    cross_scores(pools([0]), requests("a"), turns("hello", speaker="Ada"), scorer, None)
    assert scorer.calls == [(["a"], ["Ada: hello"])]


@pytest.mark.flash
def test_top_scores_the_head_of_each_pool_alone() -> None:
    table, _ = cross_scores(pools([2, 0, 1], [1]), requests("a", "a"), turns("a", "a", "a"), SharedWords(), 2)
    assert pl.DataFrame(pl.from_arrow(table)).select("request_id", "turn_index").rows() == [
        ("r0", 2),
        ("r0", 0),
        ("r1", 1),
    ]


@pytest.mark.flash
def test_a_candidate_whose_score_is_not_finite_is_in_quarantine_and_no_other() -> None:
    table, quarantine = cross_scores(pools([0, 1], [0]), requests("a", "b"), turns("a", "nan"), SharedWords(), None)
    assert table["turn_index"].to_pylist() == [0, 0]
    (row,) = quarantine.to_pylist()
    assert (row["history_id"], row["request_id"], row["session_index"], row["turn_index"]) == ("h", "r0", 0, 1)
    assert (row["code"], row["origin"], row["weight"]) == ("not_finite", "row", 1)
    assert row["reason"] == "cross-encoder words: score is not finite"


@pytest.mark.flash
def test_no_candidates_make_empty_tables_with_their_schemas() -> None:
    table, quarantine = cross_scores(pools(), requests("a"), turns("a"), SharedWords(), None)
    assert (table.num_rows, quarantine.num_rows) == (0, 0)
    assert table.schema.equals(schemas.CROSS_SCORES)

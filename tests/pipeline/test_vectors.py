from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from pipeline.schemas import QUARANTINE, REQUESTS, TURNS
from pipeline.schemas import request_vectors as request_vectors_schema
from pipeline.schemas import turn_vectors as turn_vectors_schema
from pipeline.vectors import request_vectors, turn_vectors

DIRECTIONS = {"east": (1.0, 0.0), "north": (0.0, 1.0), "nan": (np.nan, 0.0), "inf": (np.inf, 0.0)}


class CompassEmbedder:
    """A window a word; the word names its vector. Remembers what it was asked."""

    name = "compass"
    dim = 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_windows(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        self.asked += texts
        words = [(row, word) for row, text in enumerate(texts) for word in text.split()]
        vectors = np.array([DIRECTIONS[word] for _, word in words], dtype=np.float32).reshape(-1, 2)
        return np.array([row for row, _ in words], dtype=np.int64), vectors


def turns(*texts: str) -> pa.Table:
    rows: list[dict[str, Any]] = [
        {"history_id": "h", "session_index": 0, "turn_index": k, "role": "user", "text": text, "n_tokens": 1}
        for k, text in enumerate(texts)
    ]
    return pa.Table.from_pylist(rows[::-1], schema=TURNS)


def requests(*texts: str) -> pa.Table:
    rows = [
        {"request_id": f"r{k}", "history_id": "h", "mode": "reader", "text": text, "adversarial": False}
        for k, text in enumerate(texts)
    ]
    return pa.Table.from_pylist(rows[::-1], schema=REQUESTS)


@pytest.mark.flash
def test_a_turn_has_a_vector_for_each_window_in_key_order() -> None:
    table, quarantine = turn_vectors(turns("east north", "north", "east north east"), CompassEmbedder())
    assert table.schema.equals(turn_vectors_schema(2))
    assert table["turn_index"].to_pylist() == [0, 0, 1, 2, 2, 2]
    assert table["window"].to_pylist() == [0, 1, 0, 0, 1, 2]
    assert table["vector"].to_pylist() == [[1, 0], [0, 1], [0, 1], [1, 0], [0, 1], [1, 0]]
    assert quarantine.num_rows == 0
    assert quarantine.schema.equals(QUARANTINE)


@pytest.mark.flash
def test_a_text_that_repeats_is_embedded_once() -> None:
    embedder = CompassEmbedder()
    table, _ = turn_vectors(turns("east north", "north", "east north"), embedder)
    assert sorted(embedder.asked) == ["east north", "north"]
    assert table["turn_index"].to_pylist() == [0, 0, 1, 2, 2]


@pytest.mark.flash
@pytest.mark.parametrize("broken", ["nan", "inf", "east nan", "inf north"])
def test_a_turn_with_a_vector_that_is_not_finite_is_in_quarantine_whole(broken: str) -> None:
    table, quarantine = turn_vectors(turns("east", broken, "north"), CompassEmbedder())
    assert table["turn_index"].to_pylist() == [0, 2]
    (row,) = quarantine.to_pylist()
    assert (row["history_id"], row["session_index"], row["turn_index"], row["request_id"]) == ("h", 0, 1, None)
    assert (row["origin"], row["weight"]) == ("row", 1)
    assert row["reason"] == "embedder compass: vector is not finite"


@pytest.mark.flash
def test_a_long_request_gets_the_mean_of_its_windows_of_unit_length() -> None:
    table, quarantine = request_vectors(requests("east", "east north", "north north"), CompassEmbedder())
    assert table.schema.equals(request_vectors_schema(2))
    assert table["request_id"].to_pylist() == ["r0", "r1", "r2"]
    np.testing.assert_allclose(table["vector"].to_pylist(), [[1, 0], [0.5**0.5] * 2, [0, 1]], atol=1e-3)
    assert quarantine.num_rows == 0


@pytest.mark.flash
@pytest.mark.parametrize("broken", ["nan", "east inf", ""])
def test_a_request_without_a_finite_vector_is_in_quarantine(broken: str) -> None:
    table, quarantine = request_vectors(requests("east", broken), CompassEmbedder())
    assert table["request_id"].to_pylist() == ["r0"]
    assert [(row["request_id"], row["history_id"]) for row in quarantine.to_pylist()] == [("r1", "h")]


@pytest.mark.flash
def test_nothing_to_embed_makes_empty_tables_with_their_schemas() -> None:
    of_turns, of_requests = turn_vectors(turns(), CompassEmbedder()), request_vectors(requests(), CompassEmbedder())
    assert [table.num_rows for table in (*of_turns, *of_requests)] == [0, 0, 0, 0]
    assert of_turns[0].schema.equals(turn_vectors_schema(2))
    assert of_requests[0].schema.equals(request_vectors_schema(2))

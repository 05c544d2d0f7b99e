from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pipeline.recall.gather import UNKNOWN_TERM, histories
from pipeline.terms import terms
from pipeline.vectors import request_vectors, turn_vectors

Build = Callable[..., pa.Table]
ROWS = [
    {"at": ("b", 1, 0), "text": "fig plum fig"},
    {"at": ("a", 0, 0), "text": "apple"},
    {"at": ("b", 0, 1), "text": "plum"},
    {"at": ("b", 0, 0), "text": "one two three four five six"},
]
ASKED = [
    {"id": "r2", "history": "b", "text": "plum unheard"},
    {"id": "r1", "history": "b", "text": "fig"},
    {"id": "r3", "history": "nobody", "text": "fig"},
]


def gathered(turn_table: Build, request_table: Build, embedder: Any) -> Any:
    turns, requests = turn_table(ROWS), request_table(ASKED)
    vectors = turn_vectors(turns, embedder)[0], request_vectors(requests, embedder)[0]
    return list(histories(requests, turns, terms(turns), *vectors, {}))


@pytest.mark.flash
def test_a_history_comes_in_key_order_with_its_requests(
    turn_table: Build, request_table: Build, word_embedder: Any
) -> None:
    ((history, requests),) = gathered(turn_table, request_table, word_embedder)
    assert history.history_id == "b"
    assert list(zip(history.session_index.tolist(), history.turn_index.tolist(), strict=True)) == [
        (0, 0),
        (0, 1),
        (1, 0),
    ]
    assert [request.request_id for request in requests] == ["r1", "r2"]
    assert np.isnat(history.session_time).all()


@pytest.mark.flash
def test_equal_terms_have_equal_codes(turn_table: Build, request_table: Build, word_embedder: Any) -> None:
    ((history, (fig, plum)),) = gathered(turn_table, request_table, word_embedder)
    assert history.terms[2].tolist() == [fig.terms[0], plum.terms[0], fig.terms[0]]
    assert history.terms[1].tolist() == [plum.terms[0]]
    assert plum.terms[1] == UNKNOWN_TERM


@pytest.mark.flash
def test_windows_and_vectors_find_their_rows(turn_table: Build, request_table: Build, word_embedder: Any) -> None:
    ((history, (fig, _)),) = gathered(turn_table, request_table, word_embedder)
    assert history.windows.turn.tolist() == [0, 0, 1, 2]
    _, (plum,) = word_embedder.embed_windows(["plum"])
    assert np.array_equal(history.windows.vectors[2], plum.astype(np.float16))
    _, (expected,) = word_embedder.embed_windows(["fig"])
    assert np.array_equal(fig.vector, expected.astype(np.float16))


@pytest.mark.flash
def test_a_turn_whose_terms_are_in_quarantine_has_none(turn_table: Build, request_table: Build) -> None:
    turns, requests = turn_table(ROWS), request_table(ASKED)
    stored = terms(turns)
    ((history, _),) = histories(requests, turns, stored.slice(0, stored.num_rows - 1), None, None, {})
    assert history.windows is None
    assert history.terms[2].tolist() == []
    assert len(history.terms[1]) == 1

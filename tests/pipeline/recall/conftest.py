"""Small tables to recall from, and an embedder and token encoders that need no model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from word_tokens import InParts, WordTokenEncoder

from pipeline.recall.late.options import Code
from pipeline.recall.options import ENCODERS
from pipeline.recall.pools import LateTables, PoolOptions, pools
from pipeline.schemas import REQUESTS, TURN_TOKENS, TURNS
from pipeline.terms import terms
from pipeline.tokens import request_tokens, turn_tokens
from pipeline.vectors import request_vectors, turn_vectors

START = datetime(2024, 1, 1, tzinfo=UTC)


class WordEmbedder:
    """The sum of a fixed random vector for each word, scaled to unit length; a window is five words."""

    name = "words"
    dim = 16

    def embed_windows(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        rows, vectors = [], []
        for row, text in enumerate(texts):
            words = text.split() or [""]
            for start in range(0, len(words), 5):
                rows.append(row)
                vectors.append(self._vector(words[start : start + 5]))
        return np.array(rows, dtype=np.int64), np.array(vectors, dtype=np.float32).reshape(len(rows), self.dim)

    def _vector(self, words: Sequence[str]) -> npt.NDArray[np.float64]:
        if "nan" in words:
            return np.full(self.dim, np.nan)
        seeds = [int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) for word in words]
        total = np.sum([np.random.default_rng(seed).normal(size=self.dim) for seed in seeds], axis=0)
        return total / np.linalg.norm(total)


def make_turns(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Turns from what a test says of them: `at` is (history_id, session, turn), `day` the session's day or None."""
    full = [
        {
            "history_id": row["at"][0],
            "session_index": row["at"][1],
            "turn_index": row["at"][2],
            "session_time": None if row.get("day") is None else START + timedelta(days=row["day"]),
            "role": row.get("role", "user"),
            "speaker": row.get("speaker"),
            "text": row["text"],
            "n_tokens": len(row["text"].split()),
        }
        for row in rows
    ]
    return pa.Table.from_pylist(full, schema=TURNS)


def make_requests(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Requests: `id`, `history`, `text`, and where given `day` of asking and `seen` (session, turn)."""
    full = [
        {
            "request_id": row["id"],
            "history_id": row["history"],
            "mode": "agent" if row.get("seen") else "reader",
            "text": row["text"],
            "asked_at": None if row.get("day") is None else START + timedelta(days=row["day"]),
            "seen_session": row["seen"][0] if row.get("seen") else None,
            "seen_turn": row["seen"][1] if row.get("seen") else None,
            "category": None,
            "answer": None,
            "adversarial": False,
        }
        for row in rows
    ]
    return pa.Table.from_pylist(full, schema=REQUESTS)


def recall(*given: Any, **options: Any) -> pa.Table:
    """The pools of the requests, as recall_and_notes makes them."""
    return recall_and_notes(*given, **options)[0]


def recall_and_notes(
    turns: Sequence[dict[str, Any]],
    requests: Sequence[dict[str, Any]],
    encoders: Sequence[str] = ENCODERS,
    source: str = "stored",
    code: Code = "int8",
    read_by: Callable[..., WordTokenEncoder] = WordTokenEncoder,
    **options: Any,
) -> tuple[pa.Table, pa.Table]:
    """The pools of the requests, all stages before them run, and what pools put into quarantine; late interaction is
    that of `encoders`, which `read_by` makes."""
    turn_table, request_table = make_turns(turns), make_requests(requests)
    return pools(
        request_table,
        turn_table,
        terms(turn_table),
        turn_vectors(turn_table, WordEmbedder())[0],
        request_vectors(request_table, WordEmbedder())[0],
        PoolOptions(**options),
        {name: late_tables(turn_table, request_table, read_by(salt=name), source, code) for name in encoders},
    )


def late_tables(turns: pa.Table, requests: pa.Table, encoder: WordTokenEncoder, source: str, code: Code) -> LateTables:
    """What late interaction reads of an encoder."""
    asked, _ = request_tokens(requests, encoder)
    if source == "on_the_fly":
        return LateTables(asked, None, encoder, code)
    made = [table for table, _ in turn_tokens(turns, encoder, code)]
    return LateTables(asked, InParts(pa.concat_tables([TURN_TOKENS.empty_table(), *made]), rows=2))


@pytest.fixture(scope="session")
def word_embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture(scope="session")
def turn_table() -> Callable[[Sequence[dict[str, Any]]], pa.Table]:
    return make_turns


@pytest.fixture(scope="session")
def request_table() -> Callable[[Sequence[dict[str, Any]]], pa.Table]:
    return make_requests


@pytest.fixture(scope="session")
def recall_pools() -> Callable[..., pa.Table]:
    return recall


@pytest.fixture(scope="session")
def pools_and_notes() -> Callable[..., tuple[pa.Table, pa.Table]]:
    return recall_and_notes

"""Histories in memory with all that is noted of them: through the real stages, with an embedder that needs no model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from models.interfaces import TokenCounter
from models.tokens import token_counter
from pipeline import schemas
from pipeline.memory.notes import NoteTables
from pipeline.memory.options import MemoryOptions
from pipeline.memory.slates import AskedTables
from pipeline.recall.options import PoolOptions
from pipeline.recall.pools import pools
from pipeline.records.links import links
from pipeline.records.record import RecordWriter
from pipeline.records.rule import RuleWriter
from pipeline.records.write import merged_records, records
from pipeline.terms import terms
from pipeline.units.cut import units
from pipeline.units.pieces import pieces
from pipeline.vectors import request_vectors, span_vectors, unit_vectors

COUNTER = token_counter("o200k_base")
POOL = PoolOptions(channels=("bm25",), pool_size=64)


class HashEmbedder:
    """A text is the sum of a fixed random direction for each of its words, scaled to unit length."""

    name = "hash"
    dim = 24

    def embed_windows(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        vectors = [sum((_direction(word) for word in text.lower().split()), np.full(self.dim, 1e-3)) for text in texts]
        scaled = [vector / np.linalg.norm(vector) for vector in vectors]
        return np.arange(len(texts)), np.array(scaled, np.float32).reshape(-1, self.dim)


def _direction(word: str) -> npt.NDArray[np.float64]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4])
    return np.random.default_rng(seed).normal(size=HashEmbedder.dim)


def said(
    session: int,
    *texts: str | tuple[str, str],
    time: datetime | None = None,
    speaker: str | None = None,
    history: str = "h",
) -> list[dict[str, Any]]:
    """Rows of TURNS: texts of a session, of user and assistant in turn where no role is given with them."""
    rows = []
    for index, given in enumerate(texts):
        role, text = given if isinstance(given, tuple) else (("user", "assistant")[index % 2], given)
        key = {"history_id": history, "session_index": session, "turn_index": index, "session_time": time}
        rows.append({**key, "role": role, "speaker": speaker, "text": text, "n_tokens": COUNTER.count(text)})
    return rows


def request(text: str, request_id: str = "q", mode: str = "reader", history: str = "h", **more: Any) -> dict[str, Any]:
    """A row of REQUESTS."""
    return {
        "request_id": request_id, "history_id": history, "mode": mode, "text": text, "adversarial": False, **more
    }  # fmt: skip


@dataclass(frozen=True)
class Stored:
    """What is stored after several batches, and what the requests of the last one read."""

    asked: AskedTables
    noted: NoteTables


def stored(
    batches: Sequence[Sequence[dict[str, Any]]],
    requests: Sequence[dict[str, Any]],
    memory: MemoryOptions,
    writer: RecordWriter | None = None,
    counter: TokenCounter = COUNTER,
) -> Stored:
    """Notes of turns that came in batches, each through the stages as a run takes them, and the requests of the last.

    Histories over which a request of mode `agent` is asked are an agent's.
    """
    asked = pa.Table.from_pylist(list(requests), schemas.REQUESTS)
    agents = set(asked.filter(pc.equal(asked["mode"], "agent"))["history_id"].to_pylist())
    writer = writer or RuleWriter()
    embedder = HashEmbedder()
    kept: dict[str, list[pa.Table]] = {}

    def upto(name: str, new: pa.Table) -> pa.Table:
        kept.setdefault(name, []).append(new)
        return pa.concat_tables(kept[name])

    for batch in batches:
        turns = pa.Table.from_pylist(list(batch), schemas.TURNS)
        all_turns = upto("turns", turns)
        of_batch = units(turns, agents, memory.cut, counter)
        all_units = upto("units", of_batch)
        cut = pieces(of_batch, turns, memory.piece_tokens, counter)
        upto("pieces", cut)
        told = records(of_batch, _of(all_units, of_batch), all_turns, writer, memory.cut, counter)
        upto("merged_records", merged_records(told, _of(upto("records", told), told), writer, counter))
        vectors, _ = unit_vectors(told, embedder)
        upto("links", links(vectors, _of(upto("unit_vectors", vectors), vectors)))
        upto("span_vectors", span_vectors(cut, turns, embedder)[0])
    turns = pa.concat_tables(kept["turns"])
    pooled, _ = pools(asked, turns, terms(turns), None, None, POOL, {})
    of_requests, _ = request_vectors(asked, embedder)
    features = pooled.select(schemas.features(()).names)
    return Stored(
        AskedTables(asked, pooled, features, of_requests),
        NoteTables(**{name: pa.concat_tables(tables) for name, tables in kept.items()}),
    )


def _of(table: pa.Table, batch: pa.Table) -> pa.Table:
    """The rows of the histories of a batch."""
    return table.filter(pc.is_in(table["history_id"], batch["history_id"].combine_chunks()))

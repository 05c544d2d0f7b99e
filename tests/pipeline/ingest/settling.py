"""A bucket that is settled into, batch by batch, and what arrives in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipeline.ingest.arrival import Arrival
from pipeline.ingest.settle import Settled, settle
from pipeline.ingest.source import SourceHistory, SourceRequest, SourceSession, SourceTurn, TurnReference
from pipeline.ingest.staging import Staging
from pipeline.schemas import LABELS, QUARANTINE, REQUESTS, SOURCES, TURNS

SCHEMAS = {"turns": TURNS, "sources": SOURCES, "requests": REQUESTS, "labels": LABELS, "quarantine": QUARANTINE}


class Length:
    """One token a character."""

    name = "characters"

    def count(self, text: str) -> int:
        return len(text)

    def count_many(self, texts: Sequence[str]) -> npt.NDArray[np.int32]:
        return np.array([len(text) for text in texts], np.int32)


class Store:
    """A bucket: what was settled so far."""

    def __init__(self) -> None:
        self.settled: list[Settled] = []

    def add(self, *histories: SourceHistory) -> Settled:
        staging = Staging("test")
        for history in histories:
            staging.add(history)
        return self.add_arrivals(staging.take())

    def add_arrivals(self, *arrivals: Arrival) -> Settled:
        new = settle(
            arrivals, len(self.settled), self.table("sources"), self.table("requests"), self.table("labels"), Length()
        )
        for name, schema in SCHEMAS.items():
            assert getattr(new, name).schema.equals(schema), name
            getattr(new, name).validate(full=True)
        self.settled.append(new)
        return new

    def table(self, name: str) -> pa.Table:
        return pa.concat_tables([getattr(one, name) for one in self.settled] or [SCHEMAS[name].empty_table()])

    def rows(self, name: str) -> list[dict[str, Any]]:
        return self.table(name).to_pylist()


def chat(position: int, *texts: str, name: str | None = None) -> SourceSession:
    return SourceSession(position, name, None, [SourceTurn(at, "user", text) for at, text in enumerate(texts)])


def ask(position: int, text: str, *evidence: tuple[int | str, int | str], **more: Any) -> SourceRequest:
    cited = tuple(TurnReference(session, turn, f"place {session} {turn}") for session, turn in evidence)
    return SourceRequest(position, f"r{position}", text, evidence=cited, **more)


def keys(rows: list[dict[str, Any]]) -> list[tuple[int, int]]:
    return [(row["session_index"], row["turn_index"]) for row in rows]


def text_at(store: Store) -> dict[tuple[str, int, int], str]:
    return {(row["history_id"], row["session_index"], row["turn_index"]): row["text"] for row in store.rows("turns")}

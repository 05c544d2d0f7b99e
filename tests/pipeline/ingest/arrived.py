"""What tests of readers say of an arrival, and of arrivals that come one after the other."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from words import WordCounter

from pipeline.ingest.arrival import Arrival
from pipeline.ingest.settle import Settled, settle
from pipeline.schemas import LABELS, REQUESTS, SOURCES


def rows(arrival: Arrival) -> list[tuple[str, str]]:
    """Role and text of each turn."""
    return list(zip(arrival.turns["role"].to_pylist(), arrival.turns["text"].to_pylist(), strict=True))


def refused(arrival: Arrival) -> list[tuple[str, str]]:
    """Code and place of each row of the quarantine."""
    return [(row["code"], row["place"]) for row in arrival.quarantine.to_pylist()]


def settled_in_turn(batches: Iterable[list[Arrival]], first: int = 1) -> list[Settled]:
    """What each of some batches, the first of which has that number, stores of one bucket."""
    settled: list[Settled] = []
    for seq, arrivals in enumerate(batches, start=first):
        stored = [
            pa.concat_tables([schema.empty_table(), *(getattr(batch, name) for batch in settled)])
            for name, schema in (("sources", SOURCES), ("requests", REQUESTS), ("labels", LABELS))
        ]
        settled.append(settle(arrivals, seq, *stored, WordCounter()))
    return settled

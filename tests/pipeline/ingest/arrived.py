"""What tests of readers say of an arrival."""

from __future__ import annotations

from pipeline.ingest.arrival import Arrival


def rows(arrival: Arrival) -> list[tuple[str, str]]:
    """Role and text of each turn."""
    return list(zip(arrival.turns["role"].to_pylist(), arrival.turns["text"].to_pylist(), strict=True))


def refused(arrival: Arrival) -> list[tuple[str, str]]:
    """Code and place of each row of the quarantine."""
    return [(row["code"], row["place"]) for row in arrival.quarantine.to_pylist()]

"""Which units a batch closes, and how their records are counted."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest

from pipeline.records.closed import newly_closed
from pipeline.units.cut import CutOptions

pytestmark = pytest.mark.flash
OPTIONS = CutOptions(reader_tokens=100, agent_tokens=50)
SCHEMA = {
    "history_id": pl.String,
    "session_index": pl.Int64,
    "unit_index": pl.Int32,
    "session_time": pl.Datetime("us", "UTC"),
    "agent": pl.Boolean,
    "n_tokens": pl.Int32,
}
Row = tuple[str, int, int, datetime | None, bool, int]


def day(number: int) -> datetime:
    return datetime(2023, 5, number, tzinfo=UTC)


def closed(before: list[Row], batch: list[Row]) -> list[tuple[str, int, int, int]]:
    """history, session, unit and leaf of what a batch closes."""
    units = pl.DataFrame(before + batch, schema=SCHEMA, orient="row")
    found = newly_closed(units, units.tail(len(batch)), OPTIONS)
    return list(found.select("history_id", "session_index", "unit_index", "leaf").iter_rows())


def test_units_of_a_reader_are_closed_when_they_arrive_and_counted_by_time() -> None:
    batch: list[Row] = [
        ("h", 10, 0, day(3), False, 9),
        ("h", 11, 0, day(1), False, 9),
        ("h", 11, 1, day(1), False, 9),
        ("h", 12, 0, None, False, 9),
    ]
    # What has no time is seen by every request: it comes first.
    assert closed([], batch) == [("h", 12, 0, 0), ("h", 11, 0, 1), ("h", 11, 1, 2), ("h", 10, 0, 3)]
    assert closed(batch, [("h", 20, 0, day(2), False, 9)]) == [("h", 20, 0, 4)]


def test_the_last_unit_of_an_agent_is_closed_by_the_next_steps_or_when_it_has_its_size() -> None:
    first: list[Row] = [("a", 0, 0, None, True, 50), ("a", 0, 1, None, True, 49)]
    assert closed([], first) == [("a", 0, 0, 0)]
    second: list[Row] = [("a", 1, 0, None, True, 51)]
    assert closed(first, second) == [("a", 0, 1, 1), ("a", 1, 0, 2)]
    assert closed([*first, *second], [("a", 2, 0, None, True, 3)]) == []


def test_histories_are_counted_apart() -> None:
    batch: list[Row] = [("a", 0, 0, None, True, 3), ("b", 0, 0, None, False, 3), ("c", 0, 0, None, True, 60)]
    assert closed([], batch) == [("b", 0, 0, 0), ("c", 0, 0, 0)]

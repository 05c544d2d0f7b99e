"""A record is linked to the three most like it of those that were written before and are no later."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.links import links
from pipeline.schemas import LINKS, unit_vectors

pytestmark = pytest.mark.flash
DIM = 2


def vectors(rows: list[tuple[int, int | None, float]]) -> pa.Table:
    """(leaf, day, angle) of records of one history, each a session of its own."""
    made: list[dict[str, Any]] = []
    for leaf, number, angle in rows:
        time = None if number is None else datetime(2023, 5, number, tzinfo=UTC)
        vector = np.array([np.cos(angle), np.sin(angle)], np.float16).tolist()
        key = {"history_id": "h", "session_index": leaf, "unit_index": 0, "leaf": leaf}
        made.append({**key, "session_time": time, "vector": vector})
    return pa.Table.from_pylist(made, unit_vectors(DIM))


def linked(rows: list[tuple[int, int | None, float]], first: int = 0) -> list[tuple[int, int]]:
    table = vectors(rows)
    found = links(table.slice(first), table)
    assert found.schema.equals(LINKS)
    return list(zip(found["session_index"].to_pylist(), found["to_session"].to_pylist(), strict=True))


def test_to_the_three_most_alike_the_earlier_of_equal_ones_first() -> None:
    rows = [(0, 1, 0.2), (1, 2, 1.0), (2, 3, 0.5), (3, 4, 0.5), (4, 5, 0.5)]
    assert [to for source, to in linked(rows) if source == 4] == [2, 3, 0]
    assert linked(rows, first=4) == [(4, 2), (4, 3), (4, 0)]


def test_to_none_that_arrived_later_though_it_was_written_before():
    # By time the second comes first: its leaf is the smaller one.
    made = [
        {**row, "leaf": leaf} for row, leaf in zip(vectors([(0, 5, 0.0), (1, 2, 0.0)]).to_pylist(), (1, 0), strict=True)
    ]
    assert links(*[pa.Table.from_pylist(made, unit_vectors(DIM))] * 2).num_rows == 0


def test_to_none_that_is_later_and_from_one_without_a_time_to_none_that_has_one() -> None:
    assert linked([(0, 9, 0.0), (1, 2, 0.0)]) == []
    assert linked([(0, 1, 0.0), (1, None, 0.0)]) == []
    assert linked([(0, None, 0.0), (1, 2, 0.0)]) == [(1, 0)]


@given(st.lists(st.tuples(st.none() | st.integers(1, 9), st.floats(0, 3)), min_size=1, max_size=12), st.data())
def test_night_after_night_gives_what_one_night_gives(given_rows, data) -> None:
    rows = [(leaf, number, angle) for leaf, (number, angle) in enumerate(given_rows)]
    border = data.draw(st.integers(0, len(rows)))
    assert linked(rows[:border]) + linked(rows, first=border) == linked(rows)
    for source, to in linked(rows):
        assert to < source
        assert rows[to][1] is None or (rows[source][1] is not None and rows[to][1] <= rows[source][1])

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.recall.history import History, Lists, Request
from pipeline.recall.visible import hidden, views, visible

DAYS = ["2024-01-01", "2024-01-01", "2024-01-02", "2024-01-03", "NaT"]
HISTORY = History(
    history_id="h",
    session_index=np.array([0, 0, 1, 2, 3]),
    turn_index=np.array([0, 1, 0, 0, 0]),
    session_time=np.array(DAYS, dtype="datetime64[us]"),
    terms=Lists(np.zeros(0, np.int64), np.zeros(6, np.int64)),
    windows=None,
)


def request(asked: str = "NaT", seen: tuple[int | None, int | None] = (None, None)) -> Request:
    return Request("r", np.datetime64(asked, "us"), *seen, terms=np.zeros(0, np.int64), vector=None)


@pytest.mark.flash
@pytest.mark.parametrize(
    ("bounds", "seen"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"asked": "2024-01-02"}, [0, 1, 2, 4]),
        ({"asked": "2024-01-01T23:59:59.999999"}, [0, 1, 4]),
        ({"asked": "2023-12-31"}, [4]),
        ({"seen": (0, 0)}, [0]),
        ({"seen": (1, 0)}, [0, 1, 2]),
        ({"seen": (0, None)}, [0, 1]),
        ({"seen": (2, 9), "asked": "2024-01-02"}, [0, 1, 2]),
    ],
)
def test_a_request_sees_what_was_there_when_it_was_asked(bounds: dict[str, Any], seen: list[int]) -> None:
    assert np.flatnonzero(visible(HISTORY, request(**bounds))).tolist() == seen


@pytest.mark.flash
def test_requests_with_the_same_visible_set_share_a_view() -> None:
    asked = [request("2024-01-02"), request(), request("2024-01-02T05"), request(seen=(3, 0))]
    grouped = list(views(HISTORY, asked))
    assert [len(sharing) for _, sharing in grouped] == [2, 2]
    assert [mask.sum() for mask, _ in grouped] == [4, 5]


SOME_TIME = st.none() | st.integers(0, 3)


@pytest.mark.flash
@given(st.data(), st.integers(1, 5), SOME_TIME, st.none() | st.integers(0, 2), st.none() | st.integers(-1, 2))
def test_rows_of_a_table_are_hidden_by_the_same_rule(data, sessions, asked_at, seen_session, seen_turn):
    days = data.draw(st.lists(SOME_TIME, min_size=sessions, max_size=sessions))
    index = np.repeat(np.arange(sessions), 3)
    turn = np.tile(np.arange(3), sessions)
    start = np.datetime64("2024-01-01", "us")
    times = np.array([np.datetime64("NaT", "us") if day is None else start + np.timedelta64(day, "D") for day in days])
    asked = np.datetime64("NaT", "us") if asked_at is None else start + np.timedelta64(asked_at, "D")
    terms = Lists(np.zeros(0, np.int64), np.zeros(len(index) + 1, np.int64))
    history = History("h", index, turn, times[index], terms, None)
    request = Request("q", asked, seen_session, seen_turn, np.zeros(0, np.int64), None)
    rows = pl.DataFrame({"session_index": index, "turn_index": turn, "session_time": times[index]}).with_columns(
        asked_at=pl.lit(None if np.isnat(asked) else asked.astype(object), pl.Datetime("us")),
        seen_session=pl.lit(seen_session, pl.Int64),
        seen_turn=pl.lit(seen_turn, pl.Int32),
    )
    assert rows.select(hidden()).to_series().to_list() == (~visible(history, request)).tolist()

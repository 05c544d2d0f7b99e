from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipeline.recall.history import History, Lists, Request
from pipeline.recall.visible import views, visible

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

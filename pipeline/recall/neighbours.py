"""The turns around a turn: those of its session that stand next to it among the visible ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pipeline.recall.history import Floats, Ints


def neighbour_places(session: Ints, reach: int) -> Iterator[tuple[int, Ints]]:
    """For each distance from 1 to `reach` and either side: the distance, and for each turn the place of that neighbour.

    `session` is the session of each turn in order, shape (turns,); -1 where the session ends before.
    """
    places = np.arange(len(session))
    for distance in range(1, reach + 1):
        for step in (-distance, distance):
            there = places + step
            inside = (there >= 0) & (there < len(session))
            same = inside & (session[np.clip(there, 0, max(len(session) - 1, 0))] == session)
            yield distance, np.where(same, there, -1)


def window_sum(values: Floats, session: Ints, reach: int) -> Floats:
    """Sum of each turn's value and those of the turns up to `reach` places before and after it in its session."""
    total = values.astype(np.float64)
    for _, place in neighbour_places(session, reach):
        total += np.where(place >= 0, values[place], 0.0)
    return total

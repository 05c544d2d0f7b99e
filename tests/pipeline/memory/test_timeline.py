"""A timeline is merged level by level, and where that is not enough tells of as many units as fit."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.memory.timeline import Tree

pytestmark = pytest.mark.flash


def tree(tokens: list[int], nodes: dict[tuple[int, int], int]) -> Tree:
    """Of units 0, 1, ... whose leaves count likewise."""
    units = SimpleNamespace(leaf=np.arange(len(tokens)))
    view = SimpleNamespace(row=np.arange(len(tokens)), notes=SimpleNamespace(units=units))
    return Tree(view, range(len(tokens)), tokens, nodes)  # type: ignore[arg-type]


def nodes_of(n: int, size: int) -> dict[tuple[int, int], int]:
    return {(level, node): size for level in range(1, 5) for node in range(n // 4**level)}


def shown(found: Tree, room: int) -> list[tuple[int, ...]]:
    return [entry.units for entry in found.within(room)]


def test_the_oldest_are_merged_first_and_a_level_is_done_before_the_next() -> None:
    sixteen = tree([10] * 16, nodes_of(16, 12))
    assert shown(sixteen, 160) == [(unit,) for unit in range(16)]
    assert shown(sixteen, 140)[0] == (0, 1, 2, 3)
    assert [len(units) for units in shown(sixteen, 140)] == [4] + [1] * 12
    assert [len(units) for units in shown(sixteen, 48)] == [4, 4, 4, 4]
    assert shown(sixteen, 47) == [tuple(range(16))]


def test_where_merging_is_not_enough_what_tells_of_most_units_stays() -> None:
    # Merged by one level the newest entry tells of four units; the records that fit beside would be two.
    eight = tree([10] * 8, {(1, 0): 25, (1, 1): 25})
    assert shown(eight, 29) == [(4, 5, 6, 7)]
    assert shown(eight, 24) == [(6,), (7,)]
    assert shown(eight, 9) == []


def test_what_saves_nothing_is_not_merged() -> None:
    assert shown(tree([2] * 4, {(1, 0): 9}), 7) == [(1,), (2,), (3,)]


@given(st.lists(st.integers(1, 30), max_size=40), st.integers(1, 40), st.integers(0, 400))
def test_it_has_room_tells_of_no_unit_twice_and_keeps_the_order_of_time(tokens, size, room) -> None:
    kept = tree(tokens, nodes_of(len(tokens), size)).within(room)
    assert sum(entry.n_tokens for entry in kept) <= room
    told = [unit for entry in kept for unit in entry.units]
    assert told == sorted(set(told))
    if sum(tokens) <= room:
        assert told == list(range(len(tokens)))

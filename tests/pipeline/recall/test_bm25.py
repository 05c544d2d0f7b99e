from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.recall.bm25 import Bm25Channel, scores_reference
from pipeline.recall.history import Floats, History, Lists, Request, Scored
from pipeline.recall.options import PoolOptions

CODES = st.integers(0, 7)
TURN = st.lists(CODES, max_size=9)
TURNS_SEEN = st.lists(st.tuples(TURN, st.booleans()), max_size=12)
QUERY = st.lists(st.integers(-1, 8), max_size=6)
OPTIONS = st.builds(
    PoolOptions, k1=st.sampled_from([0.5, 1.2, 1.5]), b=st.sampled_from([0.0, 0.75, 1.0]), epsilon=st.floats(0, 0.5)
)


def history_of(turns: list[list[int]]) -> History:
    n = len(turns)
    offsets = np.cumsum([0, *[len(turn) for turn in turns]])
    terms = Lists(np.array([code for turn in turns for code in turn], dtype=np.int64), offsets.astype(np.int64))
    return History("h", np.arange(n), np.zeros(n, np.int64), np.full(n, "NaT", "datetime64[us]"), terms, None)


def request_of(query: list[int]) -> Request:
    return Request("r", np.datetime64("NaT", "us"), None, None, np.array(query, dtype=np.int64), None)


def scored(turns: list[list[int]], seen: list[bool], query: list[int], options: PoolOptions) -> Scored:
    channel = Bm25Channel(history_of(turns), options)
    (found,) = channel.scores(np.array(seen, dtype=np.bool_), [request_of(query)])
    assert found is not None
    return found


def scores(turns: list[list[int]], seen: list[bool], query: list[int], options: PoolOptions) -> Floats:
    return scored(turns, seen, query, options).scores


@settings(max_examples=200, deadline=None)
@given(TURNS_SEEN, QUERY, OPTIONS)
@example([([1, 1, 2], True), ([], True)], [1, 1, 2], PoolOptions(b=1.0))
def test_the_engines_agree(turns_seen: list[tuple[list[int], bool]], query: list[int], options: PoolOptions) -> None:
    turns, seen = [turn for turn, _ in turns_seen], [visible for _, visible in turns_seen]
    reference = scores_reference([turn for turn, visible in turns_seen if visible], query, options)
    found = scored(turns, seen, query, options)
    np.testing.assert_allclose(found.scores, reference.scores, rtol=0, atol=1e-9)
    by_choice = scored(turns, seen, query, options.model_copy(update={"bm25_engine": "rank_bm25"}))
    assert np.array_equal(by_choice.scores, reference.scores)
    shares_a_term = [bool({*turn} & {*query}) for turn, visible in turns_seen if visible]
    assert found.recalled.tolist() == by_choice.recalled.tolist() == shares_a_term
    assert not found.scores[~found.recalled].any()


@settings(max_examples=200, deadline=None)
@given(TURNS_SEEN, QUERY)
def test_turns_that_are_not_visible_change_no_bit(turns_seen: list[tuple[list[int], bool]], query: list[int]) -> None:
    turns, seen = [turn for turn, _ in turns_seen], [visible for _, visible in turns_seen]
    kept = [turn for turn, visible in turns_seen if visible]
    alone = scores(kept, [True] * len(kept), query, PoolOptions())
    assert alone.tobytes() == scores(turns, seen, query, PoolOptions()).tobytes()


@settings(max_examples=100, deadline=None)
@given(TURNS_SEEN, QUERY, st.permutations(range(8)))
def test_the_order_of_the_vocabulary_changes_no_bit(
    turns_seen: list[tuple[list[int], bool]], query: list[int], renamed: list[int]
) -> None:
    new = {**dict(enumerate(renamed)), 8: 8, -1: -1}
    turns, seen = [turn for turn, _ in turns_seen], [visible for _, visible in turns_seen]
    other = scores([[new[code] for code in turn] for turn in turns], seen, [new[code] for code in query], PoolOptions())
    assert scores(turns, seen, query, PoolOptions()).tobytes() == other.tobytes()


@pytest.mark.flash
@pytest.mark.parametrize("engine", ["vectorised", "rank_bm25"])
@pytest.mark.parametrize("turns", [[], [[]], [[], []]])
def test_scores_are_zero_where_bm25_is_undefined(turns: list[list[int]], engine: str) -> None:
    found = scored(turns, [True] * len(turns), [1, -1], PoolOptions.model_validate({"bm25_engine": engine}))
    assert found.scores.tolist() == [0.0] * len(turns)
    assert not found.recalled.any()


@pytest.mark.flash
def test_a_term_asked_twice_counts_twice() -> None:
    turns, seen = [[1, 2], [2, 3], [4], [5]], [True] * 4
    once, twice = (scores(turns, seen, query, PoolOptions()) for query in ([1], [1, 1]))
    assert once[0] > 0
    assert np.allclose(twice, 2 * once)

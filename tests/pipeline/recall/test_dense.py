from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.recall.dense import REQUEST_BLOCK, WINDOW_BLOCK, DenseChannel, cosines
from pipeline.recall.history import Halves, History, Lists, Request, Windows


def unit_vectors(n: int, dim: int = 384, seed: int = 0) -> Halves:
    vectors = np.random.default_rng(seed).normal(size=(n, dim))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)


def history_of(windows: Windows, n_turns: int) -> History:
    offsets = np.zeros(n_turns + 1, np.int64)
    return History(
        history_id="h",
        session_index=np.zeros(n_turns, np.int64),
        turn_index=np.arange(n_turns),
        session_time=np.full(n_turns, "NaT", "datetime64[us]"),
        terms=Lists(np.zeros(0, np.int64), offsets),
        windows=windows,
    )


def request_of(vector: Halves | None) -> Request:
    return Request("r", np.datetime64("NaT", "us"), None, None, np.zeros(0, np.int64), vector)


@pytest.mark.flash
def test_a_cosine_is_the_exact_sum() -> None:
    windows, requests = unit_vectors(3), unit_vectors(2, seed=1)
    exact = [
        [
            float(sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(window, request, strict=True)))
            for window in windows
        ]
        for request in requests
    ]
    assert cosines(windows, requests).tolist() == exact


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 300), st.integers(1, 5), st.integers(0, 2**31))
def test_a_cosine_does_not_depend_on_the_other_rows(n_windows: int, n_requests: int, seed: int) -> None:
    windows, requests = unit_vectors(n_windows, seed=seed), unit_vectors(n_requests, seed=seed + 1)
    together = cosines(windows, requests)
    assert together[-1:, -1:].tobytes() == cosines(windows[-1:], requests[-1:]).tobytes()


def test_blocks_change_no_value() -> None:
    windows = Windows(unit_vectors(WINDOW_BLOCK + 3, dim=8), np.arange(WINDOW_BLOCK + 3))
    requests = [request_of(vector) for vector in unit_vectors(REQUEST_BLOCK + 2, dim=8, seed=1)]
    channel = DenseChannel(history_of(windows, WINDOW_BLOCK + 3))
    scored = list(channel.scores(np.ones(WINDOW_BLOCK + 3, np.bool_), requests))
    expected = np.stack([r.vector for r in requests]).astype(float) @ windows.vectors.astype(float).T
    np.testing.assert_allclose(np.stack([one.scores for one in scored]), expected, rtol=0, atol=1e-12)


@pytest.mark.flash
def test_a_turn_is_scored_by_its_best_window_and_without_one_has_no_score() -> None:
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8]], dtype=np.float16)
    channel = DenseChannel(history_of(Windows(vectors, np.array([0, 0, 2])), n_turns=4))
    visible = np.array([True, True, True, False])
    asked = [request_of(np.array([0, 1], np.float16)), request_of(None), request_of(np.array([1, 0], np.float16))]
    upward, unanswered, rightward = channel.scores(visible, asked)
    assert unanswered is None
    np.testing.assert_allclose(upward.scores, [1, np.nan, 0.8], atol=1e-3)
    np.testing.assert_allclose(rightward.scores, [1, np.nan, 0.6], atol=1e-3)
    assert upward.recalled.tolist() == rightward.recalled.tolist() == [True, False, True]

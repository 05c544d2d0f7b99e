"""Dense recall: cosine of the request's vector and a turn's best window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pipeline.recall.history import Floats, Halves, History, Mask, Request, Scored
from pipeline.recall.neighbours import window_sum
from pipeline.recall.options import PoolOptions

WINDOW_BLOCK = 8192
REQUEST_BLOCK = 64
"""Blocks of one product: they bound its memory (25 MB of windows, one row of scores a request) and change no value."""


def cosines(windows: Halves, requests: Halves) -> Floats:
    """Cosine of each request and each window, shape (requests, windows), for vectors of unit length.

    The sum is exact: float16 values are multiples of 2^-24, so each product is a multiple of 2^-48, and the partial
    sums of unit vectors stay below 2^5, which float64 holds without rounding. So no value depends on the order of
    summation, on the machine, or on which other windows are there.
    """
    asked = requests.astype(np.float64)
    scores = np.empty((len(requests), len(windows)))
    for start in range(0, len(windows), WINDOW_BLOCK):
        block = windows[start : start + WINDOW_BLOCK].astype(np.float64)
        scores[:, start : start + WINDOW_BLOCK] = np.einsum("wd,rd->rw", block, asked)
    return scores


class DenseChannel:
    """Cosine similarity; a turn is scored by its best window, a turn without a vector has no score (NaN)."""

    def __init__(self, history: History) -> None:
        if history.windows is None:
            raise ValueError("channels dense and dense_window need turn_vectors and request_vectors")
        self._windows = history.windows
        self._n_turns = len(history)
        self._turns, self._first_window = np.unique(history.windows.turn, return_index=True)

    def scores(self, visible: Mask, requests: Sequence[Request]) -> Iterator[Scored | None]:
        """For each request the scores of the visible turns; None without a vector. Recalled are those with a vector."""
        for start in range(0, len(requests), REQUEST_BLOCK):
            block = requests[start : start + REQUEST_BLOCK]
            vectors = [request.vector for request in block if request.vector is not None]
            rows = iter(self._best_windows(np.stack(vectors)) if vectors else ())
            for request in block:
                if request.vector is None:
                    yield None
                else:
                    scores: Floats = next(rows)[visible]
                    yield Scored(scores, ~np.isnan(scores))

    def _best_windows(self, vectors: Halves) -> Floats:
        best = np.full((len(vectors), self._n_turns), np.nan)
        if len(self._turns):
            windows = cosines(self._windows.vectors, vectors)
            best[:, self._turns] = np.maximum.reduceat(windows, self._first_window, axis=1)
        return best


class DenseWindowChannel:
    """Mean cosine of each visible turn and its `window` neighbours on either side in the session that have a vector."""

    def __init__(self, history: History, options: PoolOptions) -> None:
        self._dense = DenseChannel(history)
        self._session = history.session_index
        self._window = options.window

    def scores(self, visible: Mask, requests: Sequence[Request]) -> Iterator[Scored | None]:
        """For each request the scores of the visible turns; None without a vector. Recalled are those with a score."""
        session = self._session[visible]
        for scored in self._dense.scores(visible, requests):
            if scored is None:
                yield None
                continue
            known = window_sum(scored.recalled.astype(np.float64), session, self._window)
            total = window_sum(np.nan_to_num(scored.scores), session, self._window)
            recalled = known > 0
            yield Scored(np.where(recalled, total / np.where(recalled, known, 1.0), np.nan), recalled)

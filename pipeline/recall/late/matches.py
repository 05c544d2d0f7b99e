"""The best cosine of every request token in every candidate turn: what all views of late interaction are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline.recall.late.codes import Codes, products
from pipeline.recall.late.turn_codes import TurnCodes
from pipeline.recall.neighbours import neighbour_places

TOKEN_BLOCK = 1 << 15
"""Turn tokens of one product: bounds its memory (with 256 request tokens, 32 MB) and changes no value."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def best_cosines(asked: Codes, turns: TurnCodes) -> Floats:
    """Best cosine of each token in each turn, shape (request tokens, turns); NaN for a turn without codes."""
    counts = np.diff(turns.offsets)
    best = np.full((len(asked.scales), len(counts)), np.nan)
    holding = np.flatnonzero(counts)
    starts = turns.offsets[holding]
    block = 0
    while block < len(holding):
        stop = max(block + 1, int(np.searchsorted(starts, starts[block] + TOKEN_BLOCK)))
        first, last = starts[block], turns.offsets[holding[stop - 1] + 1]
        codes = Codes(turns.codes.values[first:last], turns.codes.scales[first:last])
        best[:, holding[block:stop]] = np.maximum.reduceat(products(asked, codes), starts[block:stop] - first, axis=1)
        block = stop
    return best


@dataclass(frozen=True)
class Matches:
    """How the tokens of one request match its candidate turns.

    `own` is as best_cosines gives it, shape (tokens, candidates); `weights` has the idf of each token's word, shape
    (tokens,), `is_content` whether the word is more than a stop word or a mark; `session` is of each candidate, in
    order of turns, and `place` its place among the visible turns.
    """

    own: Floats
    weights: Floats
    is_content: npt.NDArray[np.bool_]
    session: Ints
    place: Ints

    def near(self, reach: int, discount: float) -> Floats:
        """As `own`, or where it is better that of a candidate up to `reach` turns away in the session, discounted.

        A turn d places away counts times discount ** d; one that is not a candidate does not count.
        """
        best = self.own.copy()
        # Candidates are a choice of the visible turns: neighbours of a candidate are looked for where they would stand.
        width = int(self.place[-1]) + 1 if len(self.place) else 0
        column = np.full(width, -1, np.int64)
        column[self.place] = np.arange(len(self.place))
        session = np.full(width, -1, np.int64)
        session[self.place] = self.session
        for distance, there in neighbour_places(session, reach):
            beside = np.where(there >= 0, column[there], -1)[self.place]
            has = np.flatnonzero(beside >= 0)
            best[:, has] = np.fmax(best[:, has], discount**distance * self.own[:, beside[has]])
        return best

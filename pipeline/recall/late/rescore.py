"""Late interaction over the turns that the cheaper channels put first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.recall.bm25 import Postings
from pipeline.recall.history import Floats, History, Ints, Lists, Mask, Request, Scored
from pipeline.recall.late.matches import Matches, best_cosines
from pipeline.recall.late.views import VIEWS

FUNCTION_WEIGHT = 1.0
"""What a token weighs whose word is not indexed (a stop word, punctuation); others weigh their idf, up to log(2 N)."""


class LateRescorer:
    """Scores of some turns of one history by the views of one encoder; statistics are over visible turns alone."""

    def __init__(self, history: History, encoder: str, views: Sequence[str], postings: Postings) -> None:
        self._history = history
        self._encoder = encoder
        self._views = tuple(views)
        self._postings = postings

    def scores(self, visible: Mask, request: Request, candidates: Ints) -> dict[str, Scored]:
        """By view the scores of the visible turns, NaN for all but `candidates`, their places among the visible ones.

        `candidates` ascend. Empty where the encoder could not read the request.
        """
        tokens = request.tokens.get(self._encoder)
        if tokens is None or not len(tokens.codes.scales):
            return {}
        seen = np.flatnonzero(visible)
        turns = self._history.codes[self._encoder].of_turns(seen[candidates])
        weights, is_content = self._weights(visible, tokens.terms)
        matches = Matches(
            own=best_cosines(tokens.codes, turns),
            weights=weights,
            is_content=is_content,
            session=self._history.session_index[seen[candidates]],
            place=candidates,
        )
        return {view: _spread(VIEWS[view](matches), candidates, len(seen)) for view in self._views}

    def _weights(self, visible: Mask, terms: Lists) -> tuple[Floats, Mask]:
        """The idf of each token's word: Lucene's log(1 + (N - df + 0.5) / (df + 0.5)), of its rarest term."""
        n_turns = int(visible.sum())
        weights = np.full(len(terms), FUNCTION_WEIGHT)
        is_content = np.zeros(len(terms), np.bool_)
        for token in range(len(terms)):
            codes = terms[token].tolist()
            if codes:
                holding = min(int(visible[self._postings.turn[self._postings.of_term(code)]].sum()) for code in codes)
                weights[token] = np.log1p((n_turns - holding + 0.5) / (holding + 0.5))
                is_content[token] = True
        return weights, is_content


def _spread(scores: Floats, candidates: Ints, n_visible: int) -> Scored:
    everywhere = np.full(n_visible, np.nan)
    everywhere[candidates] = scores
    return Scored(everywhere, ~np.isnan(everywhere))

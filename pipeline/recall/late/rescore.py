"""Late interaction over the turns that the cheaper channels put first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pipeline.recall.bm25 import Postings
from pipeline.recall.history import Floats, History, Ints, Lists, Mask, Request, RequestTokens, Scored
from pipeline.recall.late.matches import Matches, best_cosines
from pipeline.recall.late.views import VIEWS

FUNCTION_WEIGHT = 1.0
"""What a token weighs whose word is not indexed (a stop word, punctuation); others weigh their idf, up to log(2 N)."""

REQUEST_BLOCK = 32
"""Requests whose turns are looked for together, so that stored codes are read through once for all of them."""


class Candidates(NamedTuple):
    """A request, the turns that it sees, and the places among these of the turns to score, which ascend."""

    request: Request
    visible: Mask
    places: Ints


class LateRescorer:
    """Scores of some turns of one history by the views of one encoder; statistics are over visible turns alone."""

    def __init__(self, history: History, encoder: str, views: Sequence[str], postings: Postings) -> None:
        self._history = history
        self._encoder = encoder
        self._views = tuple(views)
        self._postings = postings

    def scores(self, block: Sequence[Candidates]) -> Iterator[dict[str, Scored]]:
        """For each request, by channel, the scores of the turns that it sees: NaN for all but its candidates.

        Empty where the encoder could not read the request. Of the codes of turns no more are held than one part.
        """
        read = {k: tokens for k, one in enumerate(block) if (tokens := self._tokens(one)) is not None}
        turns = {k: np.flatnonzero(block[k].visible)[block[k].places] for k in read}
        own = {k: np.full((len(tokens.codes.scales), len(turns[k])), np.nan) for k, tokens in read.items()}
        wanted = np.unique(np.concatenate([np.zeros(0, np.int64), *turns.values()]))
        for places, codes in self._history.codes[self._encoder].parts(wanted):
            for k, tokens in read.items():
                _, there, column = np.intersect1d(places, turns[k], assume_unique=True, return_indices=True)
                if len(there):
                    own[k][:, column] = best_cosines(tokens.codes, codes.take(there))
        for k, one in enumerate(block):
            yield self._viewed(one, read[k], own[k]) if k in read else {}

    def _tokens(self, one: Candidates) -> RequestTokens | None:
        tokens = one.request.tokens.get(self._encoder)
        return tokens if tokens is not None and len(tokens.codes.scales) else None

    def _viewed(self, one: Candidates, tokens: RequestTokens, own: Floats) -> dict[str, Scored]:
        weights, is_content = self._weights(one.visible, tokens.terms)
        session = self._history.session_index[one.visible][one.places]
        matches = Matches(own=own, weights=weights, is_content=is_content, session=session, place=one.places)
        n_visible = int(one.visible.sum())
        return {f"{self._encoder}_{view}": _spread(VIEWS[view](matches), one.places, n_visible) for view in self._views}

    def _weights(self, visible: Mask, terms: Lists) -> tuple[Floats, Mask]:
        """The idf of each token's word: Lucene's log(1 + (N - df + 0.5) / (df + 0.5)), of its commonest term."""
        n_turns = int(visible.sum())
        weights = np.full(len(terms), FUNCTION_WEIGHT)
        is_content = np.zeros(len(terms), np.bool_)
        for token in range(len(terms)):
            codes = terms[token].tolist()
            if codes:
                holding = max(int(visible[self._postings.turn[self._postings.of_term(code)]].sum()) for code in codes)
                weights[token] = np.log1p((n_turns - holding + 0.5) / (holding + 0.5))
                is_content[token] = True
        return weights, is_content


def _spread(scores: Floats, candidates: Ints, n_visible: int) -> Scored:
    everywhere = np.full(n_visible, np.nan)
    everywhere[candidates] = scores
    return Scored(everywhere, ~np.isnan(everywhere))

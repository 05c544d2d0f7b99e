"""BM25 over notes as they are by now, whose words are stored nowhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from pipeline.memory.view import DECIMALS, EPSILON, K1, B
from pipeline.recall.analyzer import analyze
from pipeline.recall.bm25 import Postings, Statistics, okapi
from pipeline.recall.history import Floats, Lists


class Words:
    """The terms of texts, each analysed once."""

    def __init__(self) -> None:
        self._known: dict[str, list[str]] = {}

    def bm25(self, texts: Sequence[str], query: str) -> Floats:
        """BM25 of the terms of a query, each once, over these texts and no other, shape (texts,)."""
        self._learn([*texts, query])
        terms = [self._known[text] for text in texts]
        codes = {term: code for code, term in enumerate(sorted({term for of_text in terms for term in of_text}))}
        values = np.array([codes[term] for of_text in terms for term in of_text], np.int64)
        offsets = np.concatenate([[0], np.cumsum([len(of_text) for of_text in terms])]).astype(np.int64)
        postings = Postings(Lists(values, offsets))
        every = np.ones(len(texts), np.bool_)
        wanted = np.array(sorted({codes[term] for term in self._known[query] if term in codes}), np.int64)
        found = okapi(postings, every, Statistics(postings, every, EPSILON), wanted, K1, B)
        return np.round(found.scores, DECIMALS)

    def _learn(self, texts: Sequence[str]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, analyze(pl.Series(new, dtype=pl.String)).to_list(), strict=True))

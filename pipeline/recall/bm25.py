"""BM25 over the visible turns: rank_bm25's BM25Okapi as the reference, and a vectorised engine over stored terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from rank_bm25 import BM25Okapi

from pipeline.recall.history import Floats, History, Ints, Lists, Mask, Request, Scored
from pipeline.recall.neighbours import window_sum
from pipeline.recall.options import PoolOptions


def scores_reference(turns: Sequence[Sequence[int]], query: Sequence[int], options: PoolOptions) -> Scored:
    """BM25Okapi of rank_bm25 over the terms of the visible turns; zero where it is undefined.

    It is undefined without turns, without any term in them, and where its arithmetic ends in NaN. Recalled is what has
    a term of the query, whatever the score: the floor on idf may make it negative.
    """
    wanted = set(query)
    recalled = np.array([not wanted.isdisjoint(terms) for terms in turns], dtype=np.bool_)
    if not any(len(terms) for terms in turns):
        return Scored(np.zeros(len(turns)), recalled)
    engine = BM25Okapi([list(terms) for terms in turns], k1=options.k1, b=options.b, epsilon=options.epsilon)
    with np.errstate(invalid="ignore"):
        scores = np.nan_to_num(np.asarray(engine.get_scores(list(query)), dtype=np.float64), nan=0.0)
    return Scored(scores, recalled)


class Postings:
    """The terms of a history, by term: for each distinct (code, turn) how often the turn has the term."""

    def __init__(self, terms: Lists) -> None:
        n_turns = max(len(terms), 1)
        turn_of_term = np.repeat(np.arange(len(terms)), np.diff(terms.offsets))
        pairs, frequency = np.unique(terms.values * n_turns + turn_of_term, return_counts=True)
        code_of_pair, self.turn = np.divmod(pairs, n_turns)
        self.frequency: Ints = frequency.astype(np.int64)
        self.codes, first = np.unique(code_of_pair, return_index=True)
        self.offsets: Ints = np.append(first, len(pairs)).astype(np.int64)
        self.turn_length: Ints = np.diff(terms.offsets)

    def of_term(self, code: int) -> slice:
        """Where the postings of a term lie; empty for a term that no turn has."""
        at = int(np.searchsorted(self.codes, code))
        if at == len(self.codes) or self.codes[at] != code:
            return slice(0, 0)
        return slice(int(self.offsets[at]), int(self.offsets[at + 1]))


class Statistics:
    """What BM25Okapi counts over the visible turns, and nothing else.

    The average idf comes from the histogram of document frequencies, in their order: neither the order of the
    vocabulary nor a turn that is not visible can change a bit of it.
    """

    def __init__(self, postings: Postings, visible: Mask, epsilon: float) -> None:
        self.n_turns = int(visible.sum())
        n_terms = int(postings.turn_length[visible].sum())
        self.average_length = n_terms / self.n_turns if self.n_turns else 0.0
        histogram = np.bincount(_visible_turns_of_terms(postings, visible))
        frequencies = np.flatnonzero(histogram[1:]) + 1
        idf_of_frequency = np.log(self.n_turns - frequencies + 0.5) - np.log(frequencies + 0.5)
        count = histogram[frequencies]
        average_idf = float((count * idf_of_frequency).sum() / count.sum()) if len(frequencies) else 0.0
        floored = np.where(idf_of_frequency < 0, epsilon * average_idf, idf_of_frequency)
        self._idf = dict(zip(frequencies.tolist(), floored.tolist(), strict=True))

    def idf(self, document_frequency: int) -> float:
        """Inverse document frequency of a term that so many visible turns have, floored as in BM25Okapi; 0 for none."""
        return float(self._idf.get(document_frequency, 0.0))


def _visible_turns_of_terms(postings: Postings, visible: Mask) -> Ints:
    """How many visible turns have each term, shape (terms,)."""
    upto = np.concatenate([[0], np.cumsum(visible[postings.turn])])
    counts: Ints = np.diff(upto[postings.offsets]).astype(np.int64)
    return counts


def okapi(postings: Postings, visible: Mask, statistics: Statistics, query: Ints, k1: float, b: float) -> Scored:
    """BM25 of the terms of `query`, each as often as it stands there, over the visible turns."""
    scores = np.zeros(len(visible))
    recalled = np.zeros(len(visible), dtype=np.bool_)
    for code in query.tolist():
        of_term = postings.of_term(code)
        turn = postings.turn[of_term]
        seen = visible[turn]
        turn, frequency = turn[seen], postings.frequency[of_term][seen]
        recalled[turn] = True
        idf = statistics.idf(len(turn))
        if idf == 0:
            continue
        relative_length = postings.turn_length[turn] / statistics.average_length
        scores[turn] += idf * (frequency * (k1 + 1) / (frequency + k1 * (1 - b + b * relative_length)))
    return Scored(scores[visible], recalled[visible])


class Bm25Channel:
    """BM25 (Okapi) of the request's terms over the visible turns; a term asked twice counts twice, as in rank_bm25.

    Okapi with the floor on negative idf of Trotman, Puurula, Burgess 2014 (as rank_bm25 implements it).
    """

    def __init__(self, history: History, options: PoolOptions) -> None:
        self._terms = history.terms
        self._options = options
        self._postings = Postings(history.terms)

    def scores(self, visible: Mask, requests: Sequence[Request]) -> Iterator[Scored | None]:
        """For each request the scores of the visible turns; recalled are those that have a term of the request."""
        if self._options.bm25_engine == "rank_bm25":
            seen = [self._terms[turn].tolist() for turn in np.flatnonzero(visible).tolist()]
            return (scores_reference(seen, request.terms.tolist(), self._options) for request in requests)
        statistics = Statistics(self._postings, visible, self._options.epsilon)
        return (self._vectorised(visible, statistics, request.terms) for request in requests)

    def _vectorised(self, visible: Mask, statistics: Statistics, query: Ints) -> Scored:
        return okapi(self._postings, visible, statistics, query, self._options.k1, self._options.b)


class Bm25WindowChannel:
    """BM25 of the request's terms over each visible turn taken together with its neighbours in the session.

    Frequencies and lengths are summed over the turn and the `window` visible turns on either side. A term's idf is that
    of Lucene, log(1 + (N - df + 0.5) / (df + 0.5)), with N and df counted in single turns: a window would count a
    term once for each turn that it reaches.
    """

    def __init__(self, history: History, options: PoolOptions) -> None:
        self._session = history.session_index
        self._options = options
        self._postings = Postings(history.terms)

    def scores(self, visible: Mask, requests: Sequence[Request]) -> Iterator[Scored | None]:
        """For each request the scores of the visible turns; recalled are those whose window has a term of it."""
        session = self._session[visible]
        length = window_sum(self._postings.turn_length[visible].astype(np.float64), session, self._options.window)
        average = length.mean() if length.any() else 1.0
        b, k1 = self._options.b, self._options.k1
        norm = k1 * (1 - b + b * length / average)
        return (self._of_request(visible, session, norm, request.terms) for request in requests)

    def _of_request(self, visible: Mask, session: Ints, norm: Floats, query: Ints) -> Scored:
        scores = np.zeros(len(session))
        recalled = np.zeros(len(session), dtype=np.bool_)
        for code in query.tolist():
            frequency = np.zeros(len(visible))
            of_term = self._postings.of_term(code)
            frequency[self._postings.turn[of_term]] = self._postings.frequency[of_term]
            seen = frequency[visible]
            holding = np.count_nonzero(seen)
            if holding:
                idf = np.log1p((len(session) - holding + 0.5) / (holding + 0.5))
                summed = window_sum(seen, session, self._options.window)
                held = summed > 0
                recalled |= held
                scores[held] += idf * summed[held] * (self._options.k1 + 1) / (summed[held] + norm[held])
        return Scored(scores, recalled)

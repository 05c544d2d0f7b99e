"""Turns that records cite for what a request asks: candidates beside those of the channels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import pyarrow as pa

from pipeline.recall.analyzer import analyze
from pipeline.recall.bm25 import Postings, Statistics, okapi
from pipeline.recall.fusion import DECIMALS
from pipeline.recall.history import History, Ints, Lists, Mask, Request
from pipeline.recall.options import PoolOptions
from pipeline.schemas import REQUEST_KEY, UNIT_KEY


class Citations:
    """The facts of the histories of a bucket, found by their words.

    `requests` (REQUESTS) are those of a batch, `units` (UNITS) and `records` (RECORDS) what arrived up to it.
    """

    def __init__(self, requests: pa.Table, units: pa.Table, records: pa.Table) -> None:
        asked = pl.DataFrame(pl.from_arrow(requests.select([*REQUEST_KEY, "text"])))
        keys = asked.select(REQUEST_KEY).iter_rows()
        self._terms = dict(zip(keys, analyze(asked["text"]).to_list(), strict=True))
        spans = pl.DataFrame(pl.from_arrow(units.select([*UNIT_KEY, "agent", "first_turn", "last_turn"])))
        facts = (
            pl.DataFrame(pl.from_arrow(records.select([*UNIT_KEY, "facts"])))
            .join(spans, on=list(UNIT_KEY), how="inner")
            .sort(*UNIT_KEY)
            .explode("facts", empty_as_null=False)
            .with_columns(fact=pl.col("facts").struct.field("text"), cited=pl.col("facts").struct.field("turns"))
            .drop("facts")
        )
        with_terms = facts.with_columns(terms=analyze(facts["fact"])).drop("fact")
        self._facts = dict(with_terms.group_by("history_id", maintain_order=True))
        self._spans = dict(spans.sort(*UNIT_KEY).group_by("history_id", maintain_order=True))
        self._of_history: tuple[str, _Facts | None] = ("", None)

    def turns(self, history: History, request: Request, visible: Mask) -> Ints:
        """Places in the history of the visible turns that matching facts cite, the best fact first, each turn once.

        Facts are ranked by BM25, with statistics over those that the request sees: whose unit it sees whole, and which
        would be closed if nothing followed what it sees.
        """
        facts = self._of(history)
        terms = self._terms[history.history_id, request.request_id]
        if facts is None or not terms:
            return np.zeros(0, np.int64)
        return facts.turns(terms, visible, request)

    def _of(self, history: History) -> _Facts | None:
        if self._of_history[0] != history.history_id:
            rows = self._facts.get((history.history_id,))
            facts = None if rows is None else _Facts(rows, self._spans[history.history_id,], history)
            self._of_history = (history.history_id, facts)
        return self._of_history[1]


@dataclass(frozen=True)
class _Facts:
    """The facts of one history, in order of their units."""

    rows: pl.DataFrame
    spans: pl.DataFrame
    history: History

    def turns(self, terms: list[str], visible: Mask, request: Request) -> Ints:
        seen = self._seen(visible, request)
        codes = np.unique([self._codes[term] for term in terms if term in self._codes]).astype(np.int64)
        options = PoolOptions()
        statistics = Statistics(self._postings, seen, options.epsilon)
        scored = okapi(self._postings, seen, statistics, codes, options.k1, options.b)
        place = np.flatnonzero(seen)[scored.recalled]
        scores = np.round(scored.scores[scored.recalled], DECIMALS)
        cited = self.rows["cited"].to_list()
        sessions = self.rows["session_index"].to_list()
        found = [
            self._place[sessions[fact], turn]
            for fact in place[np.lexsort((place, -scores))].tolist()
            for turn in cited[fact]
        ]
        return np.array(list(dict.fromkeys(found)), np.int64)

    def _seen(self, visible: Mask, request: Request) -> Mask:
        """Which facts the request sees. Of a part that may go on behind what it sees, none of a chat (its last units
        may yet be cut otherwise); and none of the newest unit of a run, which may be open as far as the request knows.
        """
        session, agent = self.rows["session_index"].to_numpy(), self.rows["agent"].to_numpy()
        seen: Mask = visible[self._last_place]
        if request.seen_session is not None and request.seen_turn is not None:
            seen = seen & ~((session == request.seen_session) & ~agent)
        begun = np.flatnonzero(visible[self._first_places])
        if len(begun):
            newest_session, newest_unit = self.spans.select("session_index", "unit_index").row(int(begun[-1]))
            newest = (session == newest_session) & (self.rows["unit_index"].to_numpy() == newest_unit)
            seen = seen & ~(agent & newest)
        return seen

    @cached_property
    def _place(self) -> dict[tuple[int, int], int]:
        pairs = zip(self.history.session_index.tolist(), self.history.turn_index.tolist(), strict=True)
        return {pair: place for place, pair in enumerate(pairs)}

    @cached_property
    def _first_places(self) -> Ints:
        pairs = self.spans.select("session_index", "first_turn").iter_rows()
        return np.array([self._place[pair] for pair in pairs], np.int64)

    @cached_property
    def _last_place(self) -> Ints:
        pairs = self.rows.select("session_index", "last_turn").iter_rows()
        return np.array([self._place[pair] for pair in pairs], np.int64)

    @cached_property
    def _codes(self) -> dict[str, int]:
        known = self.rows["terms"].explode(empty_as_null=False).unique().sort()
        return {term: code for code, term in enumerate(known.to_list())}

    @cached_property
    def _postings(self) -> Postings:
        flat = [self._codes[term] for terms in self.rows["terms"].to_list() for term in terms]
        lengths = self.rows["terms"].list.len().to_numpy().astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Postings(Lists(np.array(flat, np.int64), offsets))

"""Slates of the policies of memory, of every request and budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from models.interfaces import ModeChoice, Ranker, TokenCounter
from pipeline import schemas
from pipeline.memory.call import Asked, Call, Counts
from pipeline.memory.designs.filling import something_relevant
from pipeline.memory.draft import Draft, Rendered, rendered, settle
from pipeline.memory.lines import Line, Span, Writer
from pipeline.memory.notes import Notes, NoteTables, notes
from pipeline.memory.options import MemoryOptions
from pipeline.memory.registry import AUTO, MEMORY_POLICIES, require_mode_choice
from pipeline.memory.view import View
from pipeline.policies.orders import Order, lambdarank_order
from pipeline.policies.slates import SlateOptions
from pipeline.recall.analyzer import analyze
from pipeline.recall.history import Floats, Request
from pipeline.render.style import Style
from pipeline.render.styles import STYLES

_RELEVANT = ("late_interaction_score", "dense_score", "bm25_score")
"""What tells how relevant a turn is, the best that a profile has."""


@dataclass(frozen=True)
class AskedTables:
    """What is known of the requests of a batch; schemas as the names say."""

    requests: pa.Table
    pools: pa.Table
    features: pa.Table
    request_vectors: pa.Table | None = None


def memory_slates(
    asked: AskedTables,
    noted: NoteTables,
    options: SlateOptions,
    memory: MemoryOptions,
    counter: TokenCounter,
    ranker: Ranker | None = None,
) -> pa.Table:
    """Slates (SLATES) of every request under every policy and budget, sorted by history, request, policy and budget.

    A history that fits is shown whole by all of them (FlexA-Mem, arXiv 2610.33274, appendix A). Raises PolicyError
    where `auto` is asked for and the ranker has no choice of modes.
    """
    if AUTO in options.policies:
        require_mode_choice(ranker)
    score = None if ranker is None else lambdarank_order(ranker)
    choice = None if ranker is None else ranker.mode_choice
    rows = [
        {
            "request_id": call.asked.request_id,
            "history_id": call.view.notes.history_id,
            "policy": name,
            "budget": call.budget,
            "n_tokens": slate.n_tokens,
            "text": slate.text,
            "items": slate.items,
        }
        for call, whole in calls(asked, noted, options, memory, counter, score, choice)
        for name, slate in _slates(call, whole, options.policies).items()
    ]
    frame = pa.Table.from_pylist(rows, schemas.SLATES)
    return frame.sort_by([(name, "ascending") for name in ("history_id", "request_id", "policy", "budget")])


def calls(
    asked: AskedTables,
    noted: NoteTables,
    options: SlateOptions,
    memory: MemoryOptions,
    counter: TokenCounter,
    score: Order | None,
    choice: ModeChoice | None = None,
) -> Iterator[tuple[Call, list[Line]]]:
    """A call for each request and budget, by history, and all that it sees as lines.

    `score` orders candidates as a ranker does, and gives the scores that ranked policies go by.
    """
    requests = _Requests(asked, score)
    style = STYLES[options.style](counter)
    for history in notes(noted):
        yield from _of_history(history, requests, options, memory, Counts(counter), style, choice)


def _of_history(
    history: Notes,
    requests: _Requests,
    options: SlateOptions,
    memory: MemoryOptions,
    counts: Counts,
    style: Style,
    choice: ModeChoice | None,
) -> Iterator[tuple[Call, list[Line]]]:
    views: dict[tuple[Any, ...], tuple[View, Writer]] = {}
    for request, asked in requests.over(history):
        bound = (request.asked_at.astype(np.int64), request.seen_session, request.seen_turn)
        if bound not in views:
            view = View(history, request, memory.cut)
            views[bound] = (view, Writer(view, style, _tags_until(request, memory)))
        view, writer = views[bound]
        whole = transcript(view, writer, style)
        for budget in options.budgets:
            yield Call(view, asked, budget, memory, writer, counts, choice), whole


def _tags_until(request: Request, memory: MemoryOptions) -> date | None:
    """The last day that a relative time may be resolved to; None where none is."""
    if not memory.time_tags:
        return None
    asked_at: datetime | None = request.asked_at.astype(object)
    return date.max if asked_at is None else asked_at.date()


def _slates(call: Call, whole: Sequence[Line], policies: Sequence[str]) -> dict[str, Rendered]:
    if (shown := passed_through(call, whole)) is not None:
        return dict.fromkeys(policies, shown)
    return {name: settled(MEMORY_POLICIES[name](call), call) for name in policies}


def passed_through(call: Call, whole: Sequence[Line]) -> Rendered | None:
    """All that a call sees, where that fits."""
    if call.counts.lines(whole) > call.total + 1:  # the break after the last line counts here, and is not there
        return None
    shown = rendered(whole, call)
    return shown if shown.n_tokens <= call.total else None


def settled(draft: Draft, call: Call) -> Rendered:
    """What a policy shows; where nothing of that has room, the head and the tail of the most relevant unit."""
    found = settle(draft, call)
    return found if found.text else settle(something_relevant(call, Draft()), call)


def transcript(view: View, writer: Writer, style: Style) -> list[Line]:
    """All that a view sees, unchanged: sessions under their headers."""
    turns = view.notes.turns
    lines: list[Line] = []
    session: int | None = None
    before = None
    for place in np.flatnonzero(view.seen).tolist():
        if turns.session_index[place] != session:
            session, time = int(turns.session_index[place]), turns.session_time[place]
            lines.append(Line(style.header(1, time, before)))
            before = time
        lines += writer.spans([Span(place, 0, len(turns.text[place]))], "raw", 0, None)
    return lines


class _Requests:
    """The requests of a batch by history, with what is known of turns for each."""

    def __init__(self, tables: AskedTables, score: Order | None) -> None:
        asked = _frame(tables.requests).sort(*schemas.REQUEST_KEY)
        self._asked = {key: rows for (key,), rows in asked.group_by("history_id", maintain_order=True)}
        terms = analyze(asked["text"])
        self._terms = dict(zip(asked.select(schemas.REQUEST_KEY).iter_rows(), terms.to_list(), strict=True))
        pools = _frame(tables.pools)
        self._relevant = next((name for name in _RELEVANT if name in pools.columns), None)
        self._dense = "dense_score" if "dense_score" in pools.columns else self._relevant
        columns = list(dict.fromkeys(name for name in (self._relevant, self._dense) if name is not None))
        known = pools.select(*schemas.REQUEST_KEY, "session_index", "turn_index", *columns)
        learned = _learned(tables.features, score)
        if learned is not None:
            known = known.join(learned, on=[*schemas.REQUEST_KEY, "session_index", "turn_index"], how="left")
        self._known = dict(known.group_by(*schemas.REQUEST_KEY, maintain_order=True))
        self._vectors: dict[tuple[Any, ...], Floats] = {}
        if tables.request_vectors is not None:
            vectors = _frame(tables.request_vectors)
            values = vectors["vector"].to_numpy().astype(np.float64)
            keys = vectors.select(schemas.REQUEST_KEY).iter_rows()
            self._vectors = dict(zip(keys, values, strict=True))

    def over(self, history: Notes) -> Iterator[tuple[Request, Asked]]:
        """The requests over one history, in order."""
        rows = self._asked.get(history.history_id)
        if rows is None:
            return
        place = {
            pair: at
            for at, pair in enumerate(
                zip(history.turns.session_index.tolist(), history.turns.turn_index.tolist(), strict=True)
            )
        }
        bounds = rows.with_columns(pl.col("asked_at").dt.replace_time_zone(None))
        for row in bounds.iter_rows(named=True):
            key = (history.history_id, row["request_id"])
            time = np.datetime64(row["asked_at"], "us")
            terms = np.zeros(0, np.int64)
            request = Request(row["request_id"], time, row["seen_session"], row["seen_turn"], terms, None)
            yield request, self._of_request(history, key, row, place)

    def _of_request(
        self, history: Notes, key: tuple[str, str], row: Mapping[str, Any], place: Mapping[tuple[int, int], int]
    ) -> Asked:
        known = self._known.get(key)
        n_turns = len(history.turns.text)

        def of_turns(column: str | None) -> Floats:
            values = np.full(n_turns, np.nan)
            if known is not None and column is not None and column in known.columns:
                at = [place[pair] for pair in known.select("session_index", "turn_index").iter_rows()]
                values[at] = known[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()
            return values

        return Asked(
            request_id=key[1],
            mode=row["mode"],
            text=row["text"],
            query=history.coded(self._terms[key]),
            dense=of_turns(self._dense),
            late=of_turns(self._relevant),
            learned=of_turns("learned"),
            vector=self._vectors.get(key),
        )


def _learned(features: pa.Table, score: Order | None) -> pl.DataFrame | None:
    """The ranker's score of each candidate: the keys of request and turn, and `learned`."""
    if score is None:
        return None
    frame = _frame(features).sort(*schemas.REQUEST_KEY, "pool_position")
    key = frame.select(*schemas.REQUEST_KEY, "session_index", "turn_index")
    return key.with_columns(learned=pl.Series(score(frame).scores))


def _frame(table: pa.Table) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(table))

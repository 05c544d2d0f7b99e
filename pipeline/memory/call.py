"""One call: a request over what it sees of its history, under one budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from models.interfaces import ModeChoice, TokenCounter
from pipeline.memory.head_and_tail import head_and_tail
from pipeline.memory.lines import Line, Writer
from pipeline.memory.options import MemoryOptions
from pipeline.memory.view import View
from pipeline.recall.history import Floats, Ints, Mask

T = TypeVar("T")

USABLE = 0.95
"""The share of a budget that is used (FlexA-Mem, arXiv 2610.33274, section 3)."""
WINDOW = 0.25
"""The share of a budget that the recent window may take, beyond its newest unit; never more than NEWEST."""
NEWEST = 0.75
"""The share of the allowance that the newest unit may take: one that is longer keeps its head and its tail."""


@dataclass(frozen=True)
class Asked:
    """What a request asks and what is known of the turns for it.

    `mode` is reader or agent; `query` has the codes of its terms. Of turns, by place, NaN where there is none: `dense`
    and `late` as the pool has them, `learned` the ranker's score. `vector` is of the request's text.
    """

    request_id: str
    mode: str
    text: str
    query: Ints
    dense: Floats
    late: Floats
    learned: Floats
    vector: Floats | None = None


class Counts:
    """Tokens of texts, each counted once; a line is counted with the break after it."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: dict[str, int] = {}

    def whole(self, text: str) -> int:
        """Tokens of a text by itself."""
        return self._counter.count(text)

    def many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by itself."""
        counted: list[int] = self._counter.count_many(texts).tolist()
        return counted

    def lines(self, lines: Sequence[Line]) -> int:
        """Tokens of lines that stand below each other, as far as parts tell."""
        missing = list(dict.fromkeys(line.text for line in lines if line.text not in self._known))
        if missing:
            counted = self._counter.count_many([f"{text}\n" for text in missing]).tolist()
            self._known.update(zip(missing, counted, strict=True))
        return sum(self._known[line.text] for line in lines)


@dataclass(frozen=True)
class Call:
    """A request under a budget. `allowance` is what memory and window may take together."""

    view: View
    asked: Asked
    budget: int
    options: MemoryOptions
    writer: Writer
    counts: Counts
    mode_choice: ModeChoice | None = None

    @cached_property
    def total(self) -> int:
        """Tokens of memory and recent window together: what is usable of the budget, less the prompt."""
        prompt = self.options.prompt_tokens
        if prompt is None:
            prompt = min(self.counts.lines([Line(self.asked.text)]), self.budget // 4)
        return max(int(USABLE * self.budget) - prompt, 0)

    @property
    def is_agent(self) -> bool:
        """Whether the next step of a task is asked for."""
        return self.asked.mode == "agent"

    @property
    def rho(self) -> float:
        """The timeline's share of the allowance."""
        return self.options.rho_agent if self.is_agent else self.options.rho_reader

    @cached_property
    def window(self) -> tuple[int, ...]:
        """The units of the recent window, of an agent: the longest run of newest ones within a quarter of the budget,
        and the newest in any case."""
        if not self.is_agent or not len(self.view):
            return ()
        newest = len(self.view) - 1
        taken = [newest]
        used = self.raw_tokens(newest)
        most = min(WINDOW * self.budget, NEWEST * self.total)
        for unit in range(newest - 1, -1, -1):
            used += self.raw_tokens(unit)
            if used > most:
                break
            taken.append(unit)
        return tuple(reversed(taken))

    @cached_property
    def window_lines(self) -> list[Line]:
        """The recent window as it was; where the newest unit alone is too long, its head and its tail."""
        return [line for unit in self.window for line in self._recent(unit)]

    @cached_property
    def allowance(self) -> int:
        """A: what is left for memory (section 3)."""
        return max(self.total - self.counts.lines(self.window_lines), 0)

    @cached_property
    def full_window_allowance(self) -> int:
        """What would be left beside a window that takes its quarter."""
        return max(self.total - int(WINDOW * self.budget), 0)

    @cached_property
    def past(self) -> tuple[int, ...]:
        """The units that are older than the window."""
        return tuple(range(len(self.view) - len(self.window)))

    @cached_property
    def recorded(self) -> tuple[int, ...]:
        """Those of them that have a record."""
        return tuple(unit for unit in self.past if self.view.has_record[unit])

    def raw_tokens(self, unit: int) -> int:
        """Tokens of a unit as it was, with its label."""
        return self._known(("raw", unit), lambda: self.counts.lines(self.writer.raw(unit, 0, None)))

    def record_tokens(self, unit: int) -> int:
        """Tokens of the line of a unit's record."""
        return self._known(("record", unit), lambda: self.counts.lines([self.writer.record(unit)]))

    def node_tokens(self, node: tuple[int, int]) -> int:
        """Tokens of the line of a merged record, about: its label says which units it stands for."""
        text = self.view.notes.nodes[node]
        return self._known(("node", *node), lambda: self.counts.lines([self.writer.merged((0, 0), text)]))

    def piece_tokens(self, piece: int) -> tuple[int, int]:
        """Tokens of the header that a piece needs where none of its session stands before it, and of its line."""

        def counted() -> tuple[int, int]:
            header, line = self.writer.pieces([piece], [0], [None])
            return self.counts.lines([header]), self.counts.lines([line])

        return self._known(("piece", piece), counted)

    def bm25(self, query: Ints) -> Floats:
        """View.bm25, kept for the calls of one view."""
        return self._known(("bm25", query.tobytes()), lambda: self.view.bm25(query))

    def _known(self, key: tuple[Any, ...], made: Callable[[], T]) -> T:
        """What was made before for a call of the same view, or is made now."""
        if key not in self.writer.known:
            self.writer.known[key] = made()
        found: T = self.writer.known[key]
        return found

    @cached_property
    def query(self) -> Ints:
        """The terms that pieces are looked for by: of the request; of an agent's, of its task and its newest unit."""
        if not self.is_agent or not len(self.view):
            return self.asked.query
        return np.union1d(self._task_terms, self.newest_terms)

    @cached_property
    def newest_terms(self) -> Ints:
        """The terms of the newest unit."""
        return self.view.terms_of_unit(len(self.view) - 1)

    @cached_property
    def piece_order(self) -> Ints:
        """The pieces of past units by BM25; of equal ones the one whose turn is more like the request, then the
        earlier."""
        return self.ordered(self.bm25(self.query))

    def ordered(self, scores: Floats) -> Ints:
        """The pieces of past units by a score of each visible piece, with the same rule for equal ones."""
        turn = self.view.notes.pieces.turn[self.view.piece]
        like = np.nan_to_num(self.asked.dense[turn], nan=-1.0)
        order = np.lexsort((np.arange(len(scores)), -like, -scores))
        return order[self.of_past[order]]

    @cached_property
    def of_past(self) -> Mask:
        """Which of the visible pieces lie in past units."""
        return self.view.unit_of < len(self.past)

    @cached_property
    def _task_terms(self) -> Ints:
        """The terms of the task: of the first turn that is not a step, or where there is none, of the request."""
        turns = self.view.notes.turns
        seen = np.flatnonzero(self.view.seen).tolist()
        first = next((place for place in seen if turns.role[place] == "user"), None)
        if first is None:
            return self.asked.query
        rows = np.flatnonzero(self.view.notes.pieces.turn == first).tolist()
        terms = self.view.notes.piece_terms
        return np.unique(np.concatenate([np.zeros(0, np.int64), *[terms[row] for row in rows]]))

    def _recent(self, unit: int) -> list[Line]:
        lines = self.writer.raw(unit, 0, None, "recent")
        room = int(NEWEST * self.total)
        if unit != self.window[-1] or self.counts.lines(lines) <= room:
            return lines
        return self._head_and_tail(unit, room)

    def _head_and_tail(self, unit: int, room: int) -> list[Line]:
        """The label of a unit, its beginning and its end, within `room` tokens."""
        spans, text = self.writer.unit_spans(unit), self.view.notes.turns.text
        label = self.writer.raw(unit, 0, None, "recent")[:1]
        aimed = room
        while True:
            kept = head_and_tail(spans, text, aimed, self.counts.many)
            lines = [*label, *self.writer.spans(kept, "raw", 0, None)]
            if not kept or self.counts.lines(lines) <= room:
                return lines
            aimed = aimed * 9 // 10

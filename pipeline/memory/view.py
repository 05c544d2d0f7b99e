"""What of a history's notes a request sees: no look-ahead, neither in turns nor in what was made of them."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np

from pipeline.memory.notes import NO_RECORD, Notes
from pipeline.recall.bm25 import Statistics, okapi
from pipeline.recall.history import Floats, Ints, Mask, Request
from pipeline.recall.visible import visible
from pipeline.units.cut import CutOptions

K1, B = 1.2, 0.75
"""Of BM25 over pieces (FlexA-Mem, arXiv 2610.33274, appendix A)."""
EPSILON = 0.25
"""Of the floor on idf, as in rank_bm25."""
DECIMALS = 6
_TURN = 1 << 32


class View:
    """The visible turns, units and pieces of one history.

    `seen` is over its turns. Units are numbered from 0 in order of place, `row` leads to the stored ones; they reach
    from character `start` of turn `first` to `end` of turn `last`, no further than the request sees. `has_record` says
    which may show one. `piece` has the rows of visible pieces, in order, `unit_of` the unit of each.
    """

    def __init__(self, notes: Notes, request: Request, cut: CutOptions) -> None:
        self.notes = notes
        self.seen: Mask = visible(notes.history, request)
        units, turns = notes.units, notes.turns
        upto = np.concatenate([[0], np.cumsum(self.seen)])
        count = upto[units.last + 1] - upto[units.first]
        row = np.flatnonzero(count)
        whole = count[row] == (units.last - units.first + 1)[row]
        self.last: Ints = (units.first + count - 1)[row]
        lengths = [len(turns.text[place]) for place in self.last.tolist()]
        self.end: Ints = np.where(whole, units.end[row], lengths).astype(np.int64)
        self.has_record: Mask = whole & (units.leaf[row] != NO_RECORD)
        if notes.agent and len(row):
            # It is open as far as the request knows, though steps that it does not see may have closed it.
            newest = np.lexsort((units.unit_index[row], units.session_index[row]))[-1]
            self.has_record[newest] &= units.n_tokens[row[newest]] >= cut.agent_tokens
        if request.seen_session is not None and request.seen_turn is not None:
            of_part = np.flatnonzero(units.session_index[row] == request.seen_session)
            row = self._left_open(row, of_part, cut.reader_tokens)
        self.row: Ints = row
        self.first: Ints = units.first[row]
        self.start: Ints = units.start[row]
        self.piece: Ints = np.flatnonzero(self.seen[notes.pieces.turn])
        self._begins = self.first * _TURN + self.start
        of_piece = notes.pieces.turn[self.piece] * _TURN + notes.pieces.start[self.piece]
        self.unit_of: Ints = np.searchsorted(self._begins, of_piece, "right") - 1

    def __len__(self) -> int:
        return len(self.row)

    def _left_open(self, row: Ints, of_part: Ints, reader_tokens: int) -> Ints:
        """Treats the last unit of a part as one that may go on, whether or not more of it is stored.

        Where the part goes on, its last exchange may have been cut off from the unit that it would else belong to: that
        is mended, or what follows would show in a slate of what came before.
        """
        if not len(of_part):
            return row
        self.has_record[of_part[-1]] = False
        if len(of_part) < 2 or not self._would_be_one(row, of_part[-2], of_part[-1], reader_tokens):
            return row
        before, after = of_part[-2:].tolist()
        self.last[before], self.end[before] = self.last[after], self.end[after]
        self.has_record[before] = False
        self.last, self.end = np.delete(self.last, after), np.delete(self.end, after)
        self.has_record = np.delete(self.has_record, after)
        return np.delete(row, after)

    def _would_be_one(self, row: Ints, before: int, after: int, reader_tokens: int) -> bool:
        """Whether two units of a part, the last that are visible, were one if it ended with what is visible."""
        units, turns = self.notes.units, self.notes.turns
        if self.notes.agent or units.of_a_long_turn[row[[before, after]]].any():
            return False
        first, last = int(units.first[row[after]]), int(self.last[after])
        begun = [place for place in range(first, last + 1) if turns.role[place] == "user"]
        together = int(turns.n_tokens[units.first[row[before]] : last + 1].sum())
        return begun == [first] and together <= reader_tokens

    def unit_at(self, place: int, start: int) -> int:
        """The unit that holds character `start` of the turn at `place`."""
        return int(np.searchsorted(self._begins, place * _TURN + start, "right")) - 1

    @cached_property
    def step(self) -> Ints:
        """The number of each turn among the visible steps (turns of the assistant), shape (turns,); 0 before any."""
        is_step = np.array([role == "assistant" for role in self.notes.turns.role], np.bool_)
        return np.cumsum(is_step & self.seen)

    @cached_property
    def pieces_of(self) -> list[Ints]:
        """The pieces of each unit, as places in `piece`."""
        borders = np.searchsorted(self.unit_of, np.arange(len(self) + 1))
        return [np.arange(first, last) for first, last in pairwise(borders.tolist())]

    @cached_property
    def unit_of_row(self) -> dict[int, int]:
        """The unit of each stored one that is visible."""
        return {row: unit for unit, row in enumerate(self.row.tolist())}

    @cached_property
    def linked(self) -> list[list[int]]:
        """The units that each is linked to, both ways; only those that have a record here."""
        found: list[list[int]] = [[] for _ in range(len(self))]
        for one, other in self.notes.links.tolist():
            a, b = self.unit_of_row.get(one), self.unit_of_row.get(other)
            if a is not None and b is not None and self.has_record[a] and self.has_record[b]:
                found[a].append(b)
                found[b].append(a)
        return [sorted(set(units)) for units in found]

    def bm25(self, query: Ints) -> Floats:
        """BM25 of the terms of a query, each once, over the visible pieces, shape (pieces,)."""
        return np.round(okapi(self.notes.postings, self._mask, self._statistics, query, K1, B).scores, DECIMALS)

    def terms_of_unit(self, unit: int) -> Ints:
        """The terms of a unit's pieces, each once."""
        of_unit = self.piece[self.pieces_of[unit]].tolist()
        terms = self.notes.piece_terms
        return np.unique(np.concatenate([np.zeros(0, np.int64), *[terms[piece] for piece in of_unit]]))

    @cached_property
    def _mask(self) -> Mask:
        mask = np.zeros(len(self.notes.pieces.turn), np.bool_)
        mask[self.piece] = True
        return mask

    @cached_property
    def _statistics(self) -> Statistics:
        return Statistics(self.notes.postings, self._mask, EPSILON)

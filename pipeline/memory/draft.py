"""What a policy chose to show, and its text: rendered, counted whole, and cut back until it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pipeline.memory.call import Call
from pipeline.memory.lines import PIECES_BELOW, UNITS_BELOW, Line
from pipeline.memory.timeline import Entry


@dataclass(frozen=True)
class Recovered:
    """A unit that is shown as more than its record: whole, or `pieces` of it (places among the view's) below its
    record. `rank` counts from 1, the most relevant first."""

    unit: int
    rank: int
    score: float | None = None
    pieces: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Picked:
    """A piece by itself."""

    piece: int
    rank: int
    score: float | None = None


@dataclass(frozen=True)
class Block:
    """Lines of a design's own, in the place of a unit; those of one unit stand as they are given."""

    unit: int
    lines: tuple[Line, ...]
    rank: int


@dataclass(frozen=True)
class Draft:
    """A timeline, units in their places in it or below it (`in_place`), blocks in theirs, and pieces below."""

    entries: tuple[Entry, ...] = ()
    recovered: tuple[Recovered, ...] = ()
    picked: tuple[Picked, ...] = ()
    blocks: tuple[Block, ...] = ()
    in_place: bool = True
    with_window: bool = True

    def less(self) -> Draft | None:
        """Without its least relevant unit, piece or block; then without the oldest of the rest; None where nothing is
        left."""
        chosen: list[Recovered | Picked | Block] = [*self.recovered, *self.picked, *self.blocks]
        if chosen:
            worst = max(chosen, key=lambda each: each.rank)
            return replace(
                self,
                recovered=tuple(each for each in self.recovered if each is not worst),
                picked=tuple(each for each in self.picked if each is not worst),
                blocks=tuple(each for each in self.blocks if each is not worst),
            )
        return replace(self, entries=self.entries[1:]) if self.entries else None


@dataclass(frozen=True)
class Rendered:
    """The text of a slate, its tokens and its items (literals of pipeline.schemas.ITEM)."""

    text: str
    n_tokens: int
    items: list[dict[str, Any]] = field(default_factory=list)


def settle(draft: Draft, call: Call) -> Rendered:
    """The text of a draft with the recent window, within what the call may take; less and less of it until it fits."""
    left: Draft | None = draft
    while left is not None:
        found = rendered(lines_of(left, call), call)
        if found.n_tokens <= call.total:
            return found
        left = left.less()
    return Rendered("", 0)


def rendered(lines: Sequence[Line], call: Call) -> Rendered:
    """Lines as a text, counted whole."""
    text = "\n".join(line.text for line in lines)
    items = [{**line.item, "n_tokens": call.counts.lines([line])} for line in lines if line.item is not None]
    return Rendered(text, call.counts.whole(text) if text else 0, items)


def lines_of(draft: Draft, call: Call) -> list[Line]:
    """The lines of a draft: by time, then pieces, then the recent window."""
    placed = _placed(draft, call)
    lines = [line for _, block in sorted(placed, key=lambda pair: pair[0]) for line in block]
    lines += _pieces(draft, call, headed=bool(lines))
    return lines + (call.window_lines if draft.with_window else [])


Place = tuple[int, int, int]
"""Below the timeline or in it, the entry or unit that it stands at, and the unit."""


def _placed(draft: Draft, call: Call) -> list[tuple[Place, list[Line]]]:
    writer = call.writer
    shown = {each.unit for each in draft.recovered}
    merged_at = {unit: entry.units[0] for entry in draft.entries if entry.node is not None for unit in entry.units}
    placed: list[tuple[Place, list[Line]]] = []
    for entry in draft.entries:
        if entry.node is not None:
            text = call.view.notes.nodes[entry.node]
            placed.append(((0, entry.units[0], -1), [writer.merged(entry.units, text)]))
        elif not (draft.in_place and entry.units[0] in shown):
            placed.append(((0, entry.units[0], -1), [writer.record(entry.units[0])]))
    for each in draft.recovered:
        block = (
            writer.raw(each.unit, each.rank, each.score)
            if each.pieces is None
            else writer.excerpt(each.unit, each.pieces, each.rank, each.score)
        )
        at = merged_at.get(each.unit, each.unit) if draft.in_place else each.unit
        placed.append(((int(not draft.in_place), at, each.unit), block))
    if draft.recovered and draft.entries and not draft.in_place:
        placed.append(((1, -1, -1), [Line(UNITS_BELOW)]))
    return placed + [((0, each.unit, each.unit), list(each.lines)) for each in draft.blocks]


def _pieces(draft: Draft, call: Call, *, headed: bool) -> list[Line]:
    chosen = sorted(draft.picked, key=lambda each: each.piece)
    if not chosen:
        return []
    lines = call.writer.pieces(
        [each.piece for each in chosen], [each.rank for each in chosen], [each.score for each in chosen]
    )
    return [Line(PIECES_BELOW), *lines] if headed else lines

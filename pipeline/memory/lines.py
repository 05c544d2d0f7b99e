"""The lines that a call shows, each with what it shows of which turn or unit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from pipeline.ingest.steps import ACTION, BLOCK
from pipeline.memory.time_tags import Dated, dates_of_turns, time_tag
from pipeline.memory.view import View
from pipeline.render.dates import day
from pipeline.render.style import Style

OMITTED = "..."
"""Stands for text of a turn or a session that is left out."""
PIECES_BELOW = "Verbatim:"
"""Heads the pieces below a timeline."""
UNITS_BELOW = "Recovered:"
"""Heads the units below a timeline."""
_COMMAND = 60
"""Characters of a command that label a part of what came of it."""


class Line(NamedTuple):
    """A line of a slate, and the item that it shows (a literal of pipeline.schemas.ITEM less n_tokens; None: none)."""

    text: str
    item: dict[str, Any] | None = None


class Span(NamedTuple):
    """Characters `start` to `end` of the turn at `place`."""

    place: int
    start: int
    end: int


class Writer:
    """Writes lines of what one view shows, in a style; with tags of relative times up to a day, if one is given."""

    def __init__(self, view: View, style: Style, tags_until: date | None = None) -> None:
        self._view = view
        self._style = style
        self._tags_until = tags_until
        self._written: dict[Span, tuple[str, str, dict[str, Any]]] = {}
        self._openings: dict[str, str] = {}
        self._dates: dict[int, dict[int, set[Dated]]] = {}
        self.known: dict[Any, Any] = {}
        """What was counted of what is written here."""

    def record(self, unit: int, rank: int = 0) -> Line:
        """The record of a unit: `[u3 · 8 May 2023] text`."""
        told = self._view.notes.units.record[int(self._view.row[unit])]
        return Line(f"{self._label(unit, unit)} {told}", self._item(unit, "record", None, rank))

    def merged(self, units: Sequence[int], text: str) -> Line:
        """A merged record, which stands for the records of `units`: `[u1-u3, u8 · 8 May 2023 - 1 June 2023] text`."""
        label = self._label(units[0], units[-1]).replace(f"u{units[0] + 1}-u{units[-1] + 1}", _runs(units), 1)
        return Line(f"{label} {text}", self._item(units[0], "record", None, 0))

    def excerpt(self, unit: int, pieces: Sequence[int], rank: int, score: float | None) -> list[Line]:
        """The record of a unit, if it has one, with `pieces` (places among the view's) below it."""
        view = self._view
        label = self._label(unit, unit, "excerpt")
        heading = Line(label)
        if view.has_record[unit]:
            told = view.notes.units.record[int(view.row[unit])]
            heading = Line(f"{label} {told}", self._item(unit, "record", None, rank))
        return [heading, *self.spans([self.span(piece) for piece in pieces], "excerpt", rank, score)]

    def raw(self, unit: int, rank: int, score: float | None, word: str = "raw") -> list[Line]:
        """A unit as it was."""
        spans = self.unit_spans(unit)
        return [Line(self._label(unit, unit, word)), *self.spans(spans, "raw", rank, score)]

    def left_out(self, unit: int) -> Line:
        """What says that a unit is there, and no more: `[u3 · 8 May 2023 · left out]`."""
        return Line(self._label(unit, unit, "left out"))

    def turn(self, place: int, parts: Sequence[Span | str]) -> list[Line]:
        """A turn after who said it: parts of it verbatim, and texts where something stands in for the others."""
        opening = self._said_by(Span(place, 0, 0))
        lines: list[Line] = []
        for part in parts:
            line = Line(part) if isinstance(part, str) else self._span(part, "raw", 0, None, alone=False)
            lines.append(line if lines else line._replace(text=f"{opening} {line.text}"))
        return lines

    def pieces(self, pieces: Sequence[int], ranks: Sequence[int], scores: Sequence[float | None]) -> list[Line]:
        """Pieces (places among the view's, ascending), under the header of each session."""
        lines: list[Line] = []
        turns = self._view.notes.turns
        session: int | None = None
        before: datetime | None = None
        last: int | None = None
        for piece, rank, score in zip(pieces, ranks, scores, strict=True):
            span = self.span(piece)
            if turns.session_index[span.place] != session:
                time = turns.session_time[span.place]
                lines.append(Line(self._style.header(1, time, before)))
                session, before = int(turns.session_index[span.place]), time
            elif last is not None and piece != last + 1:
                lines.append(Line(OMITTED))
            lines.append(self._span(span, "excerpt", rank, score))
            last = piece
        return lines

    def spans(self, spans: Sequence[Span], resolution: str, rank: int, score: float | None) -> list[Line]:
        """Parts of turns, but for blank ones, with marks where text between two is left out."""
        lines: list[Line] = []
        before: Span | None = None
        text = self._view.notes.turns.text
        for span in spans:
            if not text[span.place][span.start : span.end].strip():
                continue
            if before is not None and not self._follows(before, span):
                lines.append(Line(OMITTED))
            lines.append(self._span(span, resolution, rank, score))
            before = span
        return lines

    def span(self, piece: int) -> Span:
        """Where a piece of the view stands."""
        stored = self._view.notes.pieces
        row = int(self._view.piece[piece])
        return Span(int(stored.turn[row]), int(stored.start[row]), int(stored.end[row]))

    def unit_spans(self, unit: int) -> list[Span]:
        """The turns of a unit, as far as they belong to it and are visible."""
        view = self._view
        first, last = int(view.first[unit]), int(view.last[unit])
        return [
            Span(
                place,
                int(view.start[unit]) if place == first else 0,
                int(view.end[unit]) if place == last else len(view.notes.turns.text[place]),
            )
            for place in range(first, last + 1)
        ]

    def _follows(self, before: Span, after: Span) -> bool:
        text = self._view.notes.turns.text
        if before.place == after.place:
            return not text[after.place][before.end : after.start].strip()
        between = range(before.place + 1, after.place)
        return not between and not text[before.place][before.end :].strip() and not text[after.place][: after.start]

    def _span(self, span: Span, resolution: str, rank: int, score: float | None, *, alone: bool = True) -> Line:
        """A part of a turn, which does not end with blanks; after who said it where it stands alone."""
        if span not in self._written:
            self._written[span] = self._write(span)
        opening, text, shown = self._written[span]
        item = {**shown, "resolution": resolution, "rank": rank, "score": score}
        return Line(f"{opening} {text}" if alone else text, item)

    def _write(self, span: Span) -> tuple[str, str, dict[str, Any]]:
        turns = self._view.notes.turns
        whole = turns.text[span.place]
        text = whole[span.start : span.end].rstrip()
        start = span.start
        if start and whole[start - 1] != "\n":
            # Cut within a line: the blank between two words is no indent.
            text = text.lstrip(" ")
            start = whole.index(text, start)
        unit = self._view.unit_at(span.place, span.start)
        shown = {
            **self._item(unit, "", None, 0),
            "session_index": int(turns.session_index[span.place]),
            "turn_index": int(turns.turn_index[span.place]),
            "start": start,
            "end": start + len(text),
        }
        return self._said_by(span), text + self._tag(span, unit, text), shown

    def _tag(self, span: Span, unit: int, text: str) -> str:
        """What the record of the unit says of relative times in a part of a turn."""
        view = self._view
        if self._tags_until is None or not view.has_record[unit]:
            return ""
        if unit not in self._dates:
            self._dates[unit] = dates_of_turns(view.notes.units.facts[int(view.row[unit])])
        dates = self._dates[unit].get(int(view.notes.turns.turn_index[span.place]), set())
        return time_tag(text, view.notes.turns.session_time[span.place], dates, self._tags_until)

    def _said_by(self, span: Span) -> str:
        """Who speaks; of a step its number, and where its beginning is not shown, the first line of what it did."""
        turns = self._view.notes.turns
        if not self._view.notes.agent or turns.role[span.place] != "assistant":
            name = turns.said_by[span.place]
            if name not in self._openings:
                self._openings[name] = self._style.opening(self._style.alone(name))
            return self._openings[name]
        number = f"step {self._view.step[span.place]}"
        if span.start and not BLOCK.match(turns.text[span.place], span.start):
            command = _command_before(turns.text[span.place], span.start)
            shortened = command[:_COMMAND] + ("..." if len(command) > _COMMAND else "")
            return f"[{number} · {shortened}]" if command else f"[{number}, continued]"
        return f"[{number}]"

    def _item(self, unit: int, resolution: str, score: float | None, rank: int) -> dict[str, Any]:
        view = self._view
        row = int(view.row[unit])
        turns, units = view.notes.turns, view.notes.units
        return {
            "session_index": int(units.session_index[row]),
            "turn_index": int(turns.turn_index[view.first[unit]]),
            "unit_index": int(units.unit_index[row]),
            "resolution": resolution,
            "start": 0,
            "end": 0,
            "rank": rank,
            "score": score,
        }

    def _label(self, first: int, last: int, word: str = "") -> str:
        view = self._view
        name = f"u{first + 1}" if first == last else f"u{first + 1}-u{last + 1}"
        parts = [name, self._when(int(view.first[first]), int(view.last[last])), word]
        return f"[{' · '.join(part for part in parts if part)}]"

    def _when(self, first: int, last: int) -> str:
        view = self._view
        if view.notes.agent:
            low, high = int(view.step[first]), int(view.step[last])
            low = max(low, 1)
            return "" if not high else f"step {low}" if low >= high else f"steps {low}-{high}"
        times = [view.notes.turns.session_time[place] for place in (first, last)]
        days = list(dict.fromkeys(day(time) for time in times if time is not None))
        return " - ".join(days)


def _command_before(text: str, end: int) -> str:
    """The first line of the last command of a step that begins before a place; empty where there is none."""
    commands = [line for line in text[:end].splitlines() if line.startswith(ACTION)]
    return commands[-1] if commands else ""


def _runs(units: Sequence[int]) -> str:
    """`u1-u3, u8`, of units in order."""
    runs: list[list[int]] = []
    for unit in units:
        if runs and unit == runs[-1][-1] + 1:
            runs[-1].append(unit)
        else:
            runs.append([unit])
    return ", ".join(f"u{run[0] + 1}" + (f"-u{run[-1] + 1}" if len(run) > 1 else "") for run in runs)

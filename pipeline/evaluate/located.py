"""Where a slate of memory shows its items: found in its text, in which they stand in order."""

from __future__ import annotations

from collections.abc import Iterable

_LABEL = "["
"""What the line of a record begins with."""
_OPENINGS = (": ", "] ")
"""What stands before a part of a turn in its line, after who said it."""


def located(parts: Iterable[str | None], text: str) -> list[tuple[int, int]] | None:
    """The characters of the lines that show each of `parts`, in order, the end excluded.

    A part is that of a turn, shown after who said it and up to the end of its last line; None for a record, which has a
    line of its own.

    None where one of them is not found.
    """
    spans: list[tuple[int, int]] = []
    at = 0
    for part in parts:
        span = _record(text, at) if part is None else _part(text, part, at)
        if span is None:
            return None
        spans.append(span)
        at = span[1]
    return spans


def _record(text: str, at: int) -> tuple[int, int] | None:
    while at < len(text):
        start = at + (text[at] == "\n")
        end = _line_end(text, start)
        if text.startswith(_LABEL, start):
            return start, end
        at = end if end > at else end + 1
    return None


def _part(text: str, part: str, at: int) -> tuple[int, int] | None:
    while (found := text.find(part, at)) >= 0:
        start = text.rfind("\n", 0, found) + 1
        before = text[start:found]
        if start >= at and (not before or before.endswith(_OPENINGS)):
            return start, _line_end(text, found + len(part))
        at = found + 1
    return None


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end

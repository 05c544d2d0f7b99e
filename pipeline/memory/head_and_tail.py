"""The beginning and the end of what is too long to be shown: what was done stands at the one, what came of it at the
other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from pipeline.memory.lines import Span

_PART = 200
"""Characters of a line from which on it is cut within."""

Count = Callable[[Sequence[str]], list[int]]


def head_and_tail(spans: Sequence[Span], texts: Sequence[str], room: int, count: Count) -> list[Span]:
    """The first and the last parts of `spans` of about `room` tokens together; `texts` are those of turns, by place.

    What stands together is one span. Nothing where not even one part has room.
    """
    parts = [part for span in spans for part in _parts(span, texts[span.place])]
    tokens = count([texts[part.place][part.start : part.end] for part in parts])
    head = _fitting(tokens, room // 2)
    tail = _fitting(tokens[head:][::-1], room - sum(tokens[:head]))
    kept = [*parts[:head], *(parts[-tail:] if tail else [])]
    return _joined(kept)


def _fitting(tokens: Sequence[int], room: int) -> int:
    return sum(1 for used in accumulate(tokens) if used <= room)


def _parts(span: Span, text: str) -> Iterator[Span]:
    """Lines, and parts of long ones."""
    start = span.start
    for line in text[span.start : span.end].splitlines(keepends=True):
        for offset in range(0, len(line), _PART):
            yield Span(span.place, start + offset, start + min(offset + _PART, len(line)))
        start += len(line)


def _joined(parts: Sequence[Span]) -> list[Span]:
    joined: list[Span] = []
    for part in parts:
        if joined and joined[-1].place == part.place and joined[-1].end == part.start:
            joined[-1] = Span(part.place, joined[-1].start, part.end)
        else:
            joined.append(part)
    return joined

"""Turns of an agent with less than all that came of what was done."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from pipeline.ingest.steps import OBSERVATION
from pipeline.memory.call import Call
from pipeline.memory.lines import Line, Span
from pipeline.records.actions import observed
from pipeline.records.lengths import clipped, one_line
from pipeline.records.record import UnitTurn
from pipeline.records.trace import trace

_OUTCOME = re.compile(r"^=>$.*?(?=^\$ |\Z)", re.MULTILINE | re.DOTALL)
"""What came of an action, to the next one (pipeline.ingest.steps)."""
_WORDS = 30
"""Of a line that tells of one turn; a record has 80 for several."""


def masked(call: Call, place: int) -> list[Line]:
    """A turn with placeholders for what came of it, which say how many lines that had."""
    return _replaced(call, place, _placeholder)


def told(call: Call, place: int) -> list[Line]:
    """A turn with a line that tells what came of each thing that was done."""
    return _replaced(call, place, _told)


def logged(call: Call, place: int) -> list[Line]:
    """A turn as a line that a rule writes: what was done, and what came of it."""
    turns = call.view.notes.turns
    line = _logged(turns.role[place], turns.text[place])
    return call.writer.turn(place, [line]) if line else []


def _replaced(call: Call, place: int, written: Callable[[str], str]) -> list[Line]:
    """A turn with something written for each outcome that is longer than that."""
    turns = call.view.notes.turns
    text = turns.text[place]
    parts: list[Span | str] = []
    reached = 0
    for start, end in _outcomes(text, turns.role[place]):
        line = written(text[start:end].removeprefix(OBSERVATION).strip("\n"))
        if len(line) >= end - start:
            continue
        if text[reached:start].strip():
            parts.append(Span(place, reached, start))
        parts.append(line)
        reached = end
    if text[reached:].strip():
        parts.append(Span(place, reached, len(text)))
    return call.writer.turn(place, parts)


def _outcomes(text: str, role: str) -> list[tuple[int, int]]:
    """Where a turn tells what came of something: all that a tool says does."""
    if role == "tool":
        return [(0, len(text))]
    return [match.span() for match in _OUTCOME.finditer(text)] if role == "assistant" else []


def _placeholder(outcome: str) -> str:
    lines = outcome.count("\n") + 1
    return f"{OBSERVATION} ({lines} line{'s' * (lines > 1)} left out)"


# The requests of a history see the same steps again and again.
@lru_cache(maxsize=4096)
def _told(outcome: str) -> str:
    return f"{OBSERVATION} {clipped(one_line(observed(outcome).outcome), _WORDS)}"


@lru_cache(maxsize=4096)
def _logged(role: str, text: str) -> str:
    return trace([UnitTurn(0, role, None, text)], _WORDS)

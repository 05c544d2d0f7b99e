"""JSON in what a model says: whole, in a fence, or cut short."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, NamedTuple

How = Literal["whole", "found", "salvaged", "none"]

_FENCE = re.compile(r"```[a-zA-Z]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_DEEPEST = 32
_CLOSERS = {"{": "}", "[": "]"}


class Reading(NamedTuple):
    """A value, and how it was come by: the whole text, found within it, or closed where it was cut."""

    value: Any
    how: How


NOTHING = Reading(None, "none")


def read_json(text: str) -> Reading:
    """The JSON object or list in a text. Of one that was cut short what is complete: an item that was being written is
    left out. Linear in the text."""
    stripped = text.strip()
    if (value := _parsed(stripped)) is not None:
        return Reading(value, "whole")
    fence = _FENCE.search(stripped)
    inner = fence.group(1).strip() if fence else stripped
    start = min((place for place in (inner.find("{"), inner.find("[")) if place >= 0), default=-1)
    if start < 0:
        return NOTHING
    ended, salvage = _scan(inner, start)
    if ended is not None and (value := _parsed(inner[start:ended])) is not None:
        return Reading(value, "found")
    if ended is None and salvage and (value := _parsed(salvage)) is not None:
        return Reading(value, "salvaged")
    return NOTHING


def _parsed(text: str) -> Any:
    """A JSON object or list; None for anything else."""
    if not text or text[0] not in _CLOSERS or _too_deep(text):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _too_deep(text: str) -> bool:
    """Whether a text begins with more brackets than any answer has: the parser would run out of stack."""
    return len(text) - len(text.lstrip("[{ \n")) > 4 * _DEEPEST


def _scan(text: str, start: int) -> tuple[int | None, str]:
    """Where the value that begins at `start` ends, None where it does not; and then the text up to the last complete
    item, closed."""
    open_: list[str] = []
    in_string = escaped = False
    cut: tuple[int, tuple[str, ...]] = (start, ())
    for place in range(start, len(text)):
        letter = text[place]
        if in_string:
            if escaped:
                escaped = False
            elif letter == "\\":
                escaped = True
            elif letter == '"':
                in_string = False
            continue
        if letter == '"':
            in_string = True
        elif letter in _CLOSERS:
            open_.append(_CLOSERS[letter])
            if len(open_) > _DEEPEST:
                return None, ""
            cut = (place + 1, tuple(open_))
        elif letter in "}]":
            if not open_ or open_.pop() != letter:
                return None, ""
            if not open_:
                return place + 1, ""
            cut = (place + 1, tuple(open_))
        elif letter == ",":
            cut = (place, tuple(open_))
    end, closers = cut
    return None, text[start:end] + "".join(reversed(closers))

"""What calls of one view need again is made once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from pipeline.memory.call import Call

T = TypeVar("T")


def once_a_view(call: Call, name: str, made: Callable[[], T]) -> T:
    """What was made under a name for an earlier call of the same view, or is made now."""
    known = call.writer.known
    if (name,) not in known:
        known[name,] = made()
    return cast(T, known[name,])


def once_a_request(call: Call, name: str, made: Callable[[], T]) -> T:
    """The same, of one request and the past that it looks through: with an agent's budget the units of its window
    change."""
    return once_a_view(call, f"{name} of {call.asked.request_id} over {len(call.past)}", made)

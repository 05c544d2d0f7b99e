"""A call that takes many items and fails as a whole: the items are halved until those at fault are alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from models.llm.engine import ModelGone

Item = TypeVar("Item")
Made = TypeVar("Made")


class Outcome(NamedTuple, Generic[Made]):
    """What the call made of an item, or the error with which it failed on it alone; `calls` counts those that held the
    item."""

    made: Made | None
    error: Exception | None
    calls: int


def by_halves(
    call: Callable[[list[Item]], list[Made]], items: Sequence[Item], tries: Callable[[Exception], int]
) -> list[Outcome[Made]]:
    """An outcome for each item, in order.

    An item alone is tried until the call has failed on it `tries(error)` times. Halves of what failed come after all
    that waits: so a call that can work at all works before it fails for long, and one item at fault among n costs
    2 log2(n) calls and its tries. Raises ModelGone as the call does.
    """
    outcomes: dict[int, Outcome[Made]] = {}
    calls = [0] * len(items)
    alone = [0] * len(items)
    waiting = deque([range(len(items))] if items else [])
    while waiting:
        part = waiting.popleft()
        for row in part:
            calls[row] += 1
        try:
            made = call([items[row] for row in part])
            if len(made) != len(part):
                raise ValueError(f"{len(made)} results of {len(part)} items")
        except ModelGone:
            raise
        except Exception as error:  # whatever an engine raises
            if len(part) > 1:
                middle = len(part) // 2
                waiting += (part[:middle], part[middle:])
                continue
            row = part.start
            alone[row] += 1
            if alone[row] < tries(error):
                waiting.append(part)
            else:
                outcomes[row] = Outcome(None, error, calls[row])
            continue
        outcomes.update((row, Outcome(each, None, calls[row])) for row, each in zip(part, made, strict=True))
    return [outcomes[row] for row in range(len(items))]

"""What an agent has not looked at yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pipeline.synth.dice import Dice

T = TypeVar("T")


class Fresh:
    """Picks items, those first that were not picked before in the same way."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._left: dict[str, list[int]] = {}

    def pick(self, way: str, items: Sequence[T]) -> T:
        """One of the items, which are the same at every call of this way. Where all were picked, any comes again."""
        left = self._left.get(way) or [*range(len(items))]
        place = self._dice.pick(left)
        self._left[way] = [other for other in left if other != place]
        return items[place]

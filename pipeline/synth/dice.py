"""Chance that is the same on every machine and Python version."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Draws from a seed text.

    Only `random.Random.random()` is called: its sequence is what Python guarantees for a seed, while `choice`,
    `shuffle` and `sample` may change between versions. A text seed is hashed by sha512, never by `hash`.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def below(self, n: int) -> int:
        """An integer in [0, n)."""
        return int(self._random.random() * n)

    def between(self, low: int, high: int) -> int:
        """An integer in [low, high]."""
        return low + self.below(high - low + 1)

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return self._random.random() < p

    def pick(self, items: Sequence[T]) -> T:
        """One item."""
        return items[self.below(len(items))]

    def weighted(self, weights: Sequence[tuple[T, int]]) -> T:
        """One item of (item, weight) pairs."""
        left = self.below(sum(weight for _, weight in weights))
        for item, weight in weights:
            left -= weight
            if left < 0:
                return item
        raise ValueError("weights must be positive")

    def sample(self, items: Sequence[T], n: int) -> list[T]:
        """n different items in random order; all of them when there are fewer."""
        rest = list(items)
        return [rest.pop(self.below(len(rest))) for _ in range(min(n, len(rest)))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All items in random order."""
        return self.sample(items, len(items))

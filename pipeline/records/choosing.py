"""Choosing what to tell within so many words: from all over a unit, nothing twice."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from pipeline.records.telling import Telling

_STRETCHES = 3
_LOOKED_AT = 20
"""How many of the best are considered, beside those of each stretch."""
_LEAST = 0.9
"""What adds less than this to what has been told is not told."""


def choose(tellings: Sequence[Telling], cost_of: Callable[[int], int], words: int) -> list[int]:
    """The places of what is told, in order: together at most `words`, as `cost_of` has it of each place.

    First the best of each of three stretches of the unit, so that all of it is touched; then, one by one, whatever adds
    most to what has been told, for its words.
    """
    choice = _Choice(tellings, cost_of, words)
    worthy = [place for place, told in enumerate(tellings) if told.worth >= _LEAST]
    best = sorted(worthy, key=lambda place: (-tellings[place].worth / (min(tellings[place].words, 20) + 4), place))
    choice.touch_all(best)
    choice.fill(best[:_LOOKED_AT])
    return sorted(choice.chosen)


class _Choice:
    """What is chosen so far, what that tells, and the words left."""

    def __init__(self, tellings: Sequence[Telling], cost_of: Callable[[int], int], words: int) -> None:
        self.chosen: set[int] = set()
        self._tellings = tellings
        self._cost_of = cost_of
        self._left = words
        self._known: set[str] = set()

    def touch_all(self, best: Sequence[int]) -> None:
        """The best of each stretch that takes no more than its share of the words, and a little."""
        end = self._tellings[-1].place + 1 if self._tellings else 1
        stretches: list[list[int]] = [[] for _ in range(_STRETCHES)]
        for place in best:
            stretches[self._tellings[place].place * _STRETCHES // end].append(place)
        for stretch, places in enumerate(stretches):
            share = self._left // (_STRETCHES - stretch) + 6
            for place in places[:2]:
                if self._cost_of(place) <= share and self._take(place):
                    break

    def fill(self, best: Sequence[int]) -> None:
        """Whatever adds most for its words. What one adds only shrinks as more is told, so stale figures are bounds."""
        heap = [(-self._gain(place), place) for place in best if place not in self.chosen]
        heapq.heapify(heap)
        while heap:
            _, place = heapq.heappop(heap)
            gain = self._gain(place)
            if heap and -gain > heap[0][0]:
                heapq.heappush(heap, (-gain, place))
            else:
                self._take(place)

    def _take(self, place: int) -> bool:
        cost = self._cost_of(place)
        if cost > self._left or self._added(place) < _LEAST:
            return False
        self.chosen.add(place)
        self._known |= self._tellings[place].terms.keys()
        self._left -= cost
        return True

    def _gain(self, place: int) -> float:
        return self._added(place) / (self._cost_of(place) + 2)

    def _added(self, place: int) -> float:
        told = self._tellings[place]
        return told.factor * sum([value for key, value in told.terms.items() if key not in self._known])

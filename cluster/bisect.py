"""Finds the units that kill their worker, by probing halves. Knows neither Ray nor tables: it deals in positions."""

from __future__ import annotations


class Bisection:
    """Asks for one probe at a time: `part` is the range of positions to try next, None when there is nothing to try.

    A part that survives is done with; one that dies is halved until single units are left: `culprits`. When more than
    `limit` units die alone, it is the machine or the stage and not the rows: `gave_up` is set and no part is asked for.
    """

    def __init__(self, units: int, limit: int) -> None:
        self.culprits: list[int] = []
        self.gave_up = False
        self._limit = limit
        self._parts = _halves(range(units)) if units > 1 else [range(units)] * units

    @property
    def part(self) -> range | None:
        """The positions to probe next."""
        return self._parts[-1] if self._parts else None

    def take_in(self, survived: bool) -> None:
        """Takes in whether computing the part left its worker alive."""
        part = self._parts.pop()
        if survived:
            return
        if len(part) > 1:
            self._parts += _halves(part)
            return
        self.culprits.append(part.start)
        if len(self.culprits) > self._limit:
            self.gave_up = True
            self._parts.clear()


def _halves(part: range) -> list[range]:
    """The later half first: parts are taken from the end of the list."""
    middle = len(part) // 2
    return [part[middle:], part[:middle]]

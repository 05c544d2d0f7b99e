"""Loose ends: what a step showed and a later one takes up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import ParamSpec

from pipeline.synth.agents.step import Step
from pipeline.synth.dice import Dice

P = ParamSpec("P")

_REACHES = ((2, 3), (10, 5), (30, 4), (60, 2))


@dataclass(frozen=True)
class LooseEnd:
    """An episode to come, since which step it may, and how an agent says that it comes next."""

    since: int
    hint: str
    follow: Callable[[], Iterator[Step]]


class LooseEnds:
    """The loose ends of a history. `now` is the number of steps done."""

    def __init__(self, dice: Dice) -> None:
        self.now = 0
        self._dice = dice
        self._left: list[LooseEnd] = []

    def leave(self, hint: str, follow: Callable[P, Iterator[Step]], *arguments: P.args, **named: P.kwargs) -> None:
        """Leaves an end for later. `hint`: what to do, in words that name none of the details."""
        self._left.append(LooseEnd(self.now, hint, partial(follow, *arguments, **named)))

    def take(self) -> LooseEnd | None:
        """One that was left a while ago, mostly ten steps or more; None where there is none so old."""
        reach = self._dice.weighted(_REACHES)
        old = [end for end in self._left if self.now - end.since >= reach]
        if not old:
            return None
        end = self._dice.pick(old)
        self._left.remove(end)
        return end

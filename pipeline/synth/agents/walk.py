"""How a history goes on: the agent looks at something new, or takes up a loose end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Protocol

from pipeline.synth.agents.ends import LooseEnd, LooseEnds
from pipeline.synth.agents.step import Step
from pipeline.synth.banks.agents.thoughts import NEXT
from pipeline.synth.dice import Dice
from pipeline.synth.grammar import say

CLOSING = 3
"""Steps that end a history."""
FOLLOW = 0.72
"""How often a loose end is taken up, where there is one."""
ANNOUNCED = 0.7
"""How often the step before says, in other words, what comes next."""


class Family(Protocol):
    """A kind of task in a world of its own."""

    task: str
    ends: LooseEnds

    def start(self) -> Iterator[Step]:
        """The first look around: a few steps."""

    def explore(self) -> Iterator[Step]:
        """One step or more that look at something new and leave loose ends."""

    def finish(self) -> Iterator[Step]:
        """The last steps, CLOSING of them."""


def walk(dice: Dice, family: Family, steps: int) -> list[Step]:
    """So many steps of a family."""
    done: list[Step] = []
    going = _steps(dice, family, done)
    for step in islice(going, steps - CLOSING):
        done.append(step)
        family.ends.now = len(done)
    return [*done, *family.finish()]


def _steps(dice: Dice, family: Family, done: list[Step]) -> Iterator[Step]:
    """Steps without end. The last of those `done` is told what comes next."""
    yield from family.start()
    while True:
        end = family.ends.take() if dice.chance(FOLLOW) else None
        if end is None:
            yield from family.explore()
            continue
        if dice.chance(ANNOUNCED):
            done[-1] = replace(done[-1], thought=_with_hint(dice, done[-1].thought, end))
        yield from end.follow()


def _with_hint(dice: Dice, thought: str, end: LooseEnd) -> str:
    return f"{thought} {say(dice.pick(NEXT), dice, {'hint': end.hint})}".strip()

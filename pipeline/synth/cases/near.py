"""Near misses about events: the same things, but another's, never done, or only talked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipeline.synth.dice import Dice
from pipeline.synth.event import Event, draw_events, happened_to_another, never_happened, talk
from pipeline.synth.telling import Statement

_KINDS = (("another", 4), ("never", 2), ("talk", 3))
SAME_THING = 0.6
"""How often a near miss is about a thing that the question needs; else about another thing of its family."""


def near_events(dice: Dice, needed: Sequence[Event], attribute: str | None, n: int) -> list[Statement]:
    """n statements, none of which tells an event of the user's own."""
    return [_near(dice, dice.pick(needed), attribute) for _ in range(n)]


def _near(dice: Dice, needed: Event, attribute: str | None) -> Statement:
    drawn = draw_events(dice, needed.family, 2)
    event = next(other for other in drawn if other.thing != needed.thing)
    kind = dice.weighted(_KINDS)
    if dice.chance(SAME_THING) and kind != "never":
        event = replace(event, thing=needed.thing, other_name=needed.other_name)
    if kind == "another":
        return happened_to_another(dice, event, attribute)
    return never_happened(dice, event) if kind == "never" else talk(dice, event)

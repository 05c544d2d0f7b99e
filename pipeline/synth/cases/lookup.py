"""Questions for one attribute of one event that the user told (single-session-user)."""

from __future__ import annotations

from pipeline.synth.banks.events import ATTRIBUTES, FAMILIES
from pipeline.synth.case import Case, always
from pipeline.synth.cases.near import near_events
from pipeline.synth.dice import Dice
from pipeline.synth.event import draw_events, happened
from pipeline.synth.grammar import say
from pipeline.synth.telling import USER, Statement


def lookup(dice: Dice, _kappa: int, near: int) -> Case:
    """One event; other events of the same family are the user's own, too, and among the near misses."""
    family = dice.pick(FAMILIES)
    attribute = dice.pick(ATTRIBUTES)
    asked, *others = draw_events(dice, family, 8)
    rivals: list[Statement] = [happened(dice, other, attribute) for other in others[: near // 4]]
    return Case(
        "single-session-user",
        say(family.ask[attribute], dice, {"thing": asked.thing}),
        always(asked.value(attribute)),
        (happened(dice, asked, attribute, USER),),
        (*rivals, *near_events(dice, [asked], attribute, near - len(rivals))),
        (family,),
    )

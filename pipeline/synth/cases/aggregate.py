"""Questions over several events of a family (multi-session): their sum, their number, the larger of two."""

from __future__ import annotations

from pipeline.synth.banks.events import FAMILIES, Family
from pipeline.synth.case import Case, always
from pipeline.synth.cases.near import near_events
from pipeline.synth.dice import Dice
from pipeline.synth.event import Event, draw_events, happened, unit_of, with_unit
from pipeline.synth.grammar import say

_COMPARE = {
    "dollars": "Which (was more expensive|cost me more), the {one} or the {two}?",
    "days": "Which took (longer|more days), the {one} or the {two}?",
    "minutes": "Which took me longer, the {one} or the {two}?",
    "pages": "Which (is longer|has more pages), the {one} or the {two}?",
}
_SUM_OF_NAMED = "(What do|How much do) the {named} (come to|add up to) (in {unit}|, counted in {unit})?"
_COUNT = "How many {group} have I (told you about that I did myself|mentioned having myself) (so far|)?"


def aggregate(dice: Dice, kappa: int, near: int) -> Case:
    """kappa events in as many sessions; nothing else is an event of the user's in this family."""
    family = dice.pick(FAMILIES)
    events = draw_events(dice, family, kappa)
    question, answer = _question(dice, family, events)
    return Case(
        "multi-session",
        question,
        always(answer),
        tuple(happened(dice, event, "amount") for event in events),
        tuple(near_events(dice, events, "amount", near)),
        (family,),
    )


def _question(dice: Dice, family: Family, events: list[Event]) -> tuple[str, str]:
    total = with_unit(family, sum(event.amount for event in events))
    kind = dice.weighted((("total", 2), ("named", 4), ("compare", 4 if len(events) == 2 else 0), ("count", 1)))
    if kind == "compare":
        question = say(_COMPARE[unit_of(family)], dice, {"one": events[0].thing, "two": events[1].thing})
        return question, max(events, key=lambda event: event.amount).thing
    if kind == "count":
        return say(_COUNT, dice, {"group": family.group}), str(len(events))
    if kind == "named":
        *first, last = [event.thing for event in dice.shuffled(events)]
        named = f"{', the '.join(first)} and the {last}"
        return say(_SUM_OF_NAMED, dice, {"named": named, "unit": unit_of(family)}), total
    return say(family.total, dice), total

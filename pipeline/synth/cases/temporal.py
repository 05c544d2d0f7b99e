"""Questions for the order of events, or the days between them (temporal-reasoning)."""

from __future__ import annotations

from pipeline.synth.banks.events import FAMILIES
from pipeline.synth.case import Answer, Case, always
from pipeline.synth.cases.near import near_events
from pipeline.synth.dice import Dice
from pipeline.synth.event import Event, draw_events, happened
from pipeline.synth.grammar import phrase, say

_FIRST = "(Which did I do first|What came earlier|Which happened before the other), {one} or {two}?"
_BETWEEN = (
    "How many days (passed|were there|lay) between (the day I|when I) {did_one} and (the day I|when I) {did_two}?"
)
_ORDER = "(In which order did I do these things|What is the order of these, from earliest to latest): {listed}?"


def temporal(dice: Dice, kappa: int, near: int) -> Case:
    """kappa events of different families, each told on its day."""
    events = [event for family in dice.sample(FAMILIES, kappa) for event in draw_events(dice, family, 1)]
    question, answer = _question(dice, events)
    return Case(
        "temporal-reasoning",
        question,
        answer,
        tuple(happened(dice, event, None, today=True) for event in events),
        tuple(near_events(dice, events, None, near)),
        tuple(event.family for event in events),
    )


def _question(dice: Dice, events: list[Event]) -> tuple[str, Answer]:
    listed = dice.shuffled([phrase(event.family.do, dice, {"thing": event.thing}) for event in events])
    if len(events) > 2:
        order = ", ".join(event.thing for event in events)
        return say(_ORDER, dice, {"listed": "; ".join(listed)}), always(order)
    if dice.chance(0.5):
        return say(_FIRST, dice, {"one": listed[0], "two": listed[1]}), always(events[0].thing)
    did = [phrase(event.family.did, dice, {"thing": event.thing}) for event in events]
    question = say(_BETWEEN, dice, {"did_one": did[0], "did_two": did[1]})
    return question, lambda times: f"{(times[1].date() - times[0].date()).days} days"

"""Questions for the latest value of a state that has changed (knowledge-update): both statements are evidence."""

from __future__ import annotations

from pipeline.synth.banks.names import OTHERS
from pipeline.synth.banks.states import STATES, State
from pipeline.synth.case import Case, always
from pipeline.synth.dice import Dice
from pipeline.synth.grammar import phrase, say
from pipeline.synth.telling import Statement, either_role, tell


def update(dice: Dice, _kappa: int, near: int) -> Case:
    """Two values of a state in two sessions; near misses are other people's values and talk."""
    state = dice.pick(STATES)
    old, new, *unused = dice.shuffled(state.values)
    return Case(
        "knowledge-update",
        say(state.ask, dice),
        always(new),
        (_told(dice, state, state.now, old), _told(dice, state, state.change, new)),
        tuple(near_state(dice, state, dice.pick(unused)) for _ in range(near)),
        subject=state.name,
    )


def near_state(dice: Dice, state: State, value: str) -> Statement:
    """Another person's value of a state, or talk about such states."""
    if dice.chance(0.6):
        return _told(dice, state, f"{dice.pick(OTHERS)} {state.others}", value)
    return _told(dice, state, state.aside, value)


def _told(dice: Dice, state: State, template: str, value: str) -> Statement:
    return tell(dice, phrase(template, dice, {"value": value}), either_role(dice), state.topics)

"""The kinds of questions, by the number of sessions that hold their evidence."""

from __future__ import annotations

from pipeline.synth.case import Case
from pipeline.synth.cases.aggregate import aggregate
from pipeline.synth.cases.lookup import lookup
from pipeline.synth.cases.recommended import recommended
from pipeline.synth.cases.temporal import temporal
from pipeline.synth.cases.update import update
from pipeline.synth.dice import Dice

MAX_KAPPA = 5
_KAPPA = ((1, 35), (2, 45), (3, 10), (4, 6), (5, 4))
_KINDS = {
    1: ((lookup, 19), (recommended, 16)),
    2: ((update, 16), (temporal, 17), (aggregate, 12)),
    3: ((aggregate, 6), (temporal, 4)),
    4: ((aggregate, 1),),
    5: ((aggregate, 1),),
}
"""Shares of kappa about as in LongMemEval (470 questions: 36, 49, 8, 4 and 3 percent), more at the hard end."""


def draw_case(dice: Dice, sessions: int, near: int) -> Case:
    """A question whose evidence fits into `sessions` sessions, with `near` near misses."""
    kappa = min(dice.weighted(_KAPPA), sessions)
    return dice.weighted(_KINDS[kappa])(dice, kappa, near)

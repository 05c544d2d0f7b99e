"""Made-up identifiers, and thoughts."""

from __future__ import annotations

from pipeline.synth.banks.agents.thoughts import THOUGHTS
from pipeline.synth.dice import Dice
from pipeline.synth.grammar import say

SILENT = 0.3
"""How often a step comes without a thought."""


def hexadecimal(dice: Dice, length: int) -> str:
    """So many hexadecimal digits, a letter among them."""
    return "".join(dice.pick("0123456789abcdef") for _ in range(length - 1)) + dice.pick("abcdef")


def think(dice: Dice, kind: str, **values: str) -> str:
    """A thought of a kind; often none."""
    return "" if dice.chance(SILENT) else say(dice.pick(THOUGHTS[kind]), dice, values)

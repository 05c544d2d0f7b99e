"""How often a prompt is put, and at which temperature: once for the likeliest answer, or several times by the dice."""

from __future__ import annotations

from pipeline.answers.shapes import Draw

TEMPERATURE = 0.7
"""Of answers that are drawn more than once."""


def draws(repeats: int) -> dict[int, Draw]:
    """What to put by the number of the repeat: 0 alone at temperature 0, or 1 to `repeats`, whose seeds they are.

    The numbers tell the likeliest answer from drawn ones wherever both lie.
    """
    if repeats == 1:
        return {0: Draw()}
    return {repeat: Draw(TEMPERATURE, repeat) for repeat in range(1, repeats + 1)}

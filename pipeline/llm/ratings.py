"""A rating from 0 to 10 out of what a language model answered: the mean over its alternatives, or what it says."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from models.interfaces import Answer

HIGHEST = 10
MAX_TOKENS = 3
"""Tokens of a rating: two digits, and the end."""
ALTERNATIVES = 20
"""Alternatives of each token that are asked for: more than there are ratings."""
LEAST_MASS = 0.1
"""Probability of an integer at the first token below which the model is taken to begin with something else."""

_RATINGS = {str(rating): rating for rating in range(HIGHEST + 1)}
_SAID = re.compile(r"[\s\"'*(\[]*(10|\d)(?!\d|[.,]\d)")
_SPACES = " \t\r\n▁Ġ"
"""Blanks, and how two families of tokenizers write one."""


class Rating(NamedTuple):
    """What an answer is taken for: `score` is null where it is no rating, and `reason` says why."""

    score: float | None
    from_logprobs: bool = False
    reason: str = ""


def rating(answer: Answer) -> Rating:
    """The expected rating where the answer has alternatives, else the integer that its text begins with."""
    if answer.status == "failed":
        return Rating(None, reason=answer.reason)
    expected = expected_rating(answer)
    if expected is not None:
        return Rating(expected, from_logprobs=True)
    said = _SAID.match(answer.text)
    if said is None:
        return Rating(None, reason=f"no integer from 0 to {HIGHEST}: {answer.text[:40]!r}")
    return Rating(float(said[1]))


def expected_rating(answer: Answer) -> float | None:
    """The mean of the integers 0 to 10 by their probability at the first token, over what is an integer.

    After G-Eval (Liu et al. 2023, arXiv 2303.16634, 2.3). A tokenizer may write 10 as `1` and `0`: where it has no `10`
    among the alternatives and the answer begins with `1`, the alternatives of the second token, which are those after a
    `1`, divide its mass. None without alternatives, and with less than LEAST_MASS on integers.
    """
    if not answer.alternatives:
        return None
    weights = np.zeros(HIGHEST + 1)
    for token, logprob in answer.alternatives[0]:
        number = _RATINGS.get(token.strip(_SPACES))
        if number is not None:
            weights[number] += math.exp(logprob)
    if not weights[HIGHEST] and answer.text.strip(_SPACES).startswith("1") and len(answer.alternatives) > 1:
        weights[HIGHEST] = weights[1] * _zero(answer.alternatives[1])
        weights[1] -= weights[HIGHEST]
    total = weights.sum()
    if not total >= LEAST_MASS:
        return None
    return float(np.clip((weights / total) @ np.arange(HIGHEST + 1), 0, HIGHEST))


def _zero(alternatives: Iterable[tuple[str, float]]) -> float:
    """The probability of a `0`."""
    return min(1.0, sum(math.exp(logprob) for token, logprob in alternatives if token.strip(_SPACES) == "0"))

"""The adaptive-k fill: the ranking is cut where scores fall most, then filled greedily (arXiv 2506.08479)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pipeline.policies.fill import Candidates, greedy

TAIL = 0.1
"""Share of the gaps, the last ones, that are not looked at: an outlier at the end of a ranking is no border."""
BUFFER = 5
"""Turns that are kept after the cut."""


def adaptive_k(candidates: Candidates, budgets: Sequence[int]) -> list[list[int]]:
    """The greedy fill over the first `cut(scores)` candidates: a Fill. What is left of a budget stays free."""
    first = candidates.ranking[: cut(candidates.scores)]
    return greedy(replace(candidates, ranking=first), budgets)


def cut(scores: npt.NDArray[np.float64]) -> int:
    """How many candidates are kept, of `scores` in rank order, shape (n,): those before the largest gap, and BUFFER.

    Adaptive-k (Taguchi, Maekawa, Bhutani 2025, arXiv 2506.08479), with the tail and the buffer of the authors' runs. A
    gap is the fall from one score to the next; of equally large gaps the first one counts. Where no score falls within
    the range that is looked at, and of fewer than two candidates, all are kept.
    """
    gaps = scores[:-1] - scores[1:]
    gaps = gaps[: len(gaps) - int(len(gaps) * TAIL)]
    if not len(gaps) or not gaps.max() > 0:
        return len(scores)
    return min(len(scores), int(np.argmax(gaps)) + 1 + BUFFER)

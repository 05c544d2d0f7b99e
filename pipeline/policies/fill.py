"""Fills: which of a request's ranked turns go into a slate. The greedy one, and what settles the plan of any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline.render.saving import Saving


@dataclass(frozen=True)
class Candidates:
    """A request's candidates: `ranking` holds their places in rank order, `scores` what each was ranked by, in the same
    order (NaN: nothing). `sessions`, `line_tokens` and `header_tokens` are by place, of each by itself; `saving` gives
    what turns save by standing together, of none yet, or None where the style saves nothing."""

    ranking: Sequence[int]
    scores: npt.NDArray[np.float64]
    sessions: Sequence[int]
    line_tokens: Sequence[int]
    header_tokens: Sequence[int]
    saving: Callable[[], Saving | None] = lambda: None

    def walk(self, ranking: Sequence[int], budget: int) -> list[int]:
        """`plan` over the places of `ranking`."""
        return plan(ranking, self.sessions, self.line_tokens, self.header_tokens, budget, self.saving())


Fill = Callable[[Candidates, Sequence[int]], list[list[int]]]
"""Plans a slate for each budget: places in rank order, which fit it by the counts of their parts and what they save."""

RenderAndCount = Callable[[Sequence[int]], tuple[str, int]]
"""From places (ascending) to their rendered text and its tokens, counted whole."""


@dataclass(frozen=True)
class Filled:
    """A slate: the places shown, ascending, its text, and the text's tokens."""

    places: tuple[int, ...]
    text: str
    n_tokens: int


def greedy(candidates: Candidates, budgets: Sequence[int]) -> list[list[int]]:
    """Each turn in rank order that still fits (AgentMemRec, arXiv 2610.34673, 4.3): a Fill."""
    return [candidates.walk(candidates.ranking, budget) for budget in budgets]


def plan(
    ranking: Sequence[int],
    sessions: Sequence[int],
    line_tokens: Sequence[int],
    header_tokens: Sequence[int],
    budget: int,
    saving: Saving | None = None,
) -> list[int]:
    """The places that fit by the counts of their parts, in rank order.

    `ranking` holds places; `sessions`, `line_tokens` and `header_tokens` are by place, of each by itself; a `saving`
    without turns says what they save by standing together. A turn that does not fit is skipped and the walk goes on.
    """
    left = budget
    opened: set[int] = set()
    chosen: list[int] = []
    for place in ranking:
        session = sessions[place]
        cost = line_tokens[place] + (0 if session in opened else header_tokens[place])
        if cost <= left or (saving is not None and cost <= left + saving.with_turn(place)):
            left -= cost
            opened.add(session)
            chosen.append(place)
            if saving is not None:
                saving.add(place)
    return chosen


def settle(chosen: Sequence[int], budget: int, render_and_count: RenderAndCount) -> Filled:
    """Renders a plan, and drops the lowest ranked until the text, counted whole, fits.

    Counts of parts are a plan and no proof: a tokenizer merges across their borders.
    """
    kept = list(chosen)
    while kept:
        places = tuple(sorted(kept))
        text, n_tokens = render_and_count(places)
        if n_tokens <= budget:
            return Filled(places, text, n_tokens)
        kept.pop()
    return Filled((), "", 0)

"""The knapsack fill: of all sets of turns that fit, the one that most probably misses no evidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from models.interfaces import Calibration
from pipeline.policies.fill import Candidates, Fill

Ints = npt.NDArray[np.int64]

UNIT = 1e-9
"""Values are counted in whole units: sums are exact, whatever their order, and ties are ties on every machine."""

_CERTAIN = 1 - 2.0**-53
_IMPOSSIBLE = -(1 << 62)


def knapsack_fill(calibration: Calibration) -> Fill:
    """The fill that maximises the sum of -log(1 - p) over the turns shown, p by `calibration` of their scores.

    The tokens of each part count by itself; what turns save by standing together is spent in rank order afterwards.
    Were turns evidence independently of each other, it is the slate that most probably leaves no evidence out: the
    product of 1 - p over the turns not shown is as large as the budget allows.
    """

    def fill(candidates: Candidates, budgets: Sequence[int]) -> list[list[int]]:
        planned = knapsack(candidates, values(calibration, candidates.scores), budgets)
        return [_spend_savings(candidates, places, budget) for places, budget in zip(planned, budgets, strict=True)]

    return fill


def _spend_savings(candidates: Candidates, chosen: Sequence[int], budget: int) -> list[int]:
    """The places chosen, and in rank order those that fit into what the chosen save by standing together."""
    if candidates.saving() is None:
        return list(chosen)
    first = set(chosen)
    rest = [place for place in candidates.ranking if place not in first]
    taken = set(candidates.walk([*chosen, *rest], budget))
    return [place for place in candidates.ranking if place in taken]


def values(calibration: Calibration, scores: npt.NDArray[np.float64]) -> Ints:
    """-log(1 - p) of each score, in units of UNIT, shape as `scores`."""
    p = np.minimum(calibration.probability(scores), _CERTAIN)
    return np.asarray(np.rint(-np.log1p(-p) / UNIT), np.int64)


def knapsack(candidates: Candidates, worth: Ints, budgets: Sequence[int]) -> list[list[int]]:
    """For each budget the places of the largest total `worth` (by rank, at least 0) that fit it, in rank order: exact.

    A 0/1 knapsack with setup costs: the first turn of a session pays for its header. It is solved session by session
    over all budgets at once (dynamic programming; Chebil and Khemakhem 2015 treat the problem): O(candidates x largest
    budget). Of equally good sets the one found first, by the order of sessions and turns in the ranking, is kept.
    """
    places = np.asarray(candidates.ranking, np.int64)
    tokens = np.asarray(candidates.line_tokens, np.int64)[places]
    headers = np.asarray(candidates.header_tokens, np.int64)[places]
    fits = np.flatnonzero((worth > 0) & (tokens + headers <= max(budgets)))
    of_session = _by_session(fits, np.asarray(candidates.sessions, np.int64)[places])
    setups = [int(headers[members].max()) for members in of_session]
    # Beyond what all of them take a larger budget changes nothing.
    capacity = min(max(budgets), int(tokens[fits].sum()) + sum(setups))
    best = np.zeros(capacity + 1, np.int64)
    opened, taken = [], []
    for setup, members in zip(setups, of_session, strict=True):
        inside = np.full(capacity + 1, _IMPOSSIBLE, np.int64)
        inside[setup:] = best[: capacity + 1 - setup]
        taken.append([_take(inside, int(tokens[rank]), int(worth[rank])) for rank in members])
        opened.append(inside > best)
        best = np.maximum(best, inside)
    return [
        places[np.sort(_chosen(min(budget, capacity), of_session, setups, tokens, opened, taken))].tolist()
        for budget in budgets
    ]


def _by_session(ranks: Ints, sessions: Ints) -> list[Ints]:
    """The ranks of each session, sessions in the order of their first."""
    _, first, of_rank = np.unique(sessions[ranks], return_index=True, return_inverse=True)
    return [ranks[of_rank == session] for session in np.argsort(first)]


def _take(inside: Ints, tokens: int, worth: int) -> npt.NDArray[np.bool_]:
    """Offers one turn to every capacity of `inside`, which is changed; returns the capacities that took it."""
    with_it = np.full_like(inside, _IMPOSSIBLE)
    with_it[tokens:] = inside[: len(inside) - tokens] + worth
    better = with_it > inside
    np.copyto(inside, with_it, where=better)
    return better


def _chosen(
    left: int,
    of_session: Sequence[Ints],
    setups: Sequence[int],
    tokens: Ints,
    opened: Sequence[npt.NDArray[np.bool_]],
    taken: Sequence[Sequence[npt.NDArray[np.bool_]]],
) -> Ints:
    """The ranks that make up the best set of capacity `left`, found back from what each capacity took."""
    found: list[int] = []
    for session in range(len(of_session) - 1, -1, -1):
        if not opened[session][left]:
            continue
        for rank, took in zip(reversed(of_session[session]), reversed(taken[session]), strict=True):
            if took[left]:
                found.append(int(rank))
                left -= int(tokens[rank])
        left -= setups[session]
    return np.array(found, np.int64)

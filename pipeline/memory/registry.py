"""Every policy of memory by its name: from a call to what it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from pipeline.memory.call import Call
from pipeline.memory.draft import Draft
from pipeline.memory.recovery import piece_recovery, unit_recovery
from pipeline.memory.relevance import of_choice, of_ranker
from pipeline.recall.history import Floats, Ints

MemoryPolicy = Callable[[Call], Draft]


def by_units(call: Call) -> Draft:
    """Unit recovery."""
    return unit_recovery(call, of_choice(call))


def by_pieces(call: Call) -> Draft:
    """Piece recovery, by BM25."""
    return piece_recovery(call, call.piece_order, call.bm25(call.query))


def by_mode(call: Call) -> Draft:
    """Units for an agent, pieces for a reader (FlexA-Mem, arXiv 2610.33274, section 3.5)."""
    return by_units(call) if call.is_agent else by_pieces(call)


def by_ranked_units(call: Call) -> Draft:
    """Unit recovery, the relevance of units by the learned ranker."""
    return unit_recovery(call, of_ranker(call))


def by_ranked_pieces(call: Call) -> Draft:
    """Piece recovery in the order of the learned ranker."""
    order, scores = ranked_pieces(call)
    return piece_recovery(call, order, scores)


def ranked_pieces(call: Call) -> tuple[Ints, Floats]:
    """Past pieces by the learned ranker's score of their turn, those of one turn by BM25; then, by BM25, those of turns
    that are not in the pool. Scores are the ranker's, NaN where there is none."""
    learned = call.asked.learned[call.view.notes.pieces.turn[call.view.piece]]
    bm25 = call.bm25(call.query)
    order = np.lexsort((np.arange(len(bm25)), -bm25, -np.nan_to_num(learned, nan=-np.inf)))
    return order[call.of_past[order]], learned


POLICIES: Mapping[str, MemoryPolicy] = {
    "flexamem": by_mode,
    "unit_recovery": by_units,
    "piece_recovery": by_pieces,
}
"""Policies that need no ranker."""

RANKED: Mapping[str, MemoryPolicy] = {
    "ranked_units": by_ranked_units,
    "ranked_pieces": by_ranked_pieces,
}
"""Policies that go by a ranker."""

MEMORY_POLICIES: Mapping[str, MemoryPolicy] = {**POLICIES, **RANKED}

OF_SPANS = frozenset[str]()
"""Policies that read the vectors of spans of units."""

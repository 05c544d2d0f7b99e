"""Orders of the pieces of past units beside BM25 (Call.piece_order)."""

from __future__ import annotations

import numpy as np

from pipeline.memory.call import Call
from pipeline.recall.history import Floats, Ints


def ranked_pieces(call: Call) -> tuple[Ints, Floats]:
    """Past pieces by the learned ranker's score of their turn, those of one turn by BM25; then, by BM25, those of turns
    that are not in the pool. Scores are the ranker's, NaN where there is none."""
    return pieces_by_turn(call, call.asked.learned)


def pieces_by_turn(call: Call, of_turns: Floats) -> tuple[Ints, Floats]:
    """The same by any score of turns, NaN where there is none: the order, and the score of each visible piece."""
    scores = of_turns[call.view.notes.pieces.turn[call.view.piece]]
    bm25 = call.bm25(call.query)
    order = np.lexsort((np.arange(len(bm25)), -bm25, -np.nan_to_num(scores, nan=-np.inf)))
    return order[call.of_past[order]], scores

"""What a call shows of itself before anything is recovered: what the choice of the recovery mode is learned from.

How well a question names its evidence is what the two modes differ by (FlexA-Mem, arXiv 2610.33274, section 6.4); the
paper measures that with evidence labels, and finds no signal that tells it without.
"""

from __future__ import annotations

import math

import numpy as np

from pipeline.memory.call import Call
from pipeline.memory.piece_orders import ranked_pieces
from pipeline.memory.relevance import of_choice, of_ranker
from pipeline.recall.history import Floats, Ints

SIGNALS = (
    "allowance",
    "compression",
    "request_terms",
    "terms_of_best_piece",
    "second_unit_by_bm25",
    "units_of_best_pieces",
    "second_unit_by_turns",
    "second_unit_by_ranker",
    "units_of_best_ranked_pieces",
    "size_of_best_unit",
)
_HEAD = 10
"""Pieces at the head of an order whose units are counted."""


def signals(call: Call) -> list[float]:
    """The value of each of SIGNALS.

    Logarithms of the allowance and of the tokens of all visible turns over it; terms of the request, and the share of
    them that the best piece has; what the second best unit is worth to the best, by three measures; of how many units
    the best pieces are, in two orders; tokens of the best unit over the allowance.
    """
    view, notes = call.view, call.view.notes
    bm25, (ranked, _) = call.bm25(call.query), ranked_pieces(call)
    order = call.piece_order
    n_tokens = int(notes.turns.n_tokens[view.seen].sum())
    by_turns, by_ranker = (measure(call)[: len(call.past)] for measure in (of_choice, of_ranker))
    of_unit = np.zeros(len(view))
    np.maximum.at(of_unit, view.unit_of, bm25)
    room = max(call.allowance, 1)
    return [
        math.log(room),
        math.log(max(n_tokens, 1) / room),
        float(len(call.query)),
        _terms_held(call, order),
        _second(of_unit[: len(call.past)]),
        _units(call, order),
        _second(by_turns),
        _second(by_ranker),
        _units(call, ranked),
        min(call.raw_tokens(int(np.argmax(by_turns))) / room, 10.0) if len(by_turns) else 0.0,
    ]


def _terms_held(call: Call, order: Ints) -> float:
    if not len(order) or not len(call.query):
        return 0.0
    held = call.view.notes.piece_terms[int(call.view.piece[order[0]])]
    return float(np.isin(call.query, held).mean())


def _second(worth: Floats) -> float:
    """The second best over the best; 1 where the best is worth nothing, 0 where there is one alone."""
    best = np.sort(np.clip(np.nan_to_num(worth), 0, None))[::-1][:2]
    if not len(best) or best[0] <= 0:
        return 1.0
    return float(best[1] / best[0]) if len(best) > 1 else 0.0


def _units(call: Call, order: Ints) -> float:
    head = order[:_HEAD]
    return len(np.unique(call.view.unit_of[head])) / len(head) if len(head) else 0.0

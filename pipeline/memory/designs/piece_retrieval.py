"""Piece retrieval: the best pieces, and no timeline (FlexA-Mem, arXiv 2610.33274, appendix C)."""

from __future__ import annotations

from pipeline.memory.call import Call
from pipeline.memory.designs.filling import something
from pipeline.memory.draft import Draft
from pipeline.memory.piece_orders import ranked_pieces
from pipeline.memory.recovery import piece_recovery
from pipeline.recall.history import Floats, Ints


def piece_retrieval(call: Call) -> Draft:
    """By BM25."""
    return pieces_alone(call, call.piece_order, call.bm25(call.query))


def ranked_retrieval(call: Call) -> Draft:
    """By the learned ranker: what a timeline adds to ranked_pieces shows beside it."""
    return pieces_alone(call, *ranked_pieces(call))


def pieces_alone(call: Call, order: Ints, scores: Floats) -> Draft:
    """The pieces of an order that fit; where none does, what fits of the unit of the first."""
    draft = piece_recovery(call, order, scores, with_timeline=False)
    return something(call, draft, call.view.unit_of[order[:1]].tolist())

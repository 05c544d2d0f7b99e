"""What a unit is worth to a request, by several measures: shape (units,), of all visible units."""

from __future__ import annotations

import numpy as np

from pipeline.memory.call import Call
from pipeline.recall.history import Floats


def of_best_turn(call: Call, of_turns: Floats) -> Floats:
    """The best of its turns by a score of turns; zero for a unit none of whose turns has one."""
    view = call.view
    scores = np.where(view.seen, np.nan_to_num(of_turns, nan=-np.inf), -np.inf)
    best = np.array(
        [scores[first : last + 1].max() for first, last in zip(view.first, view.last, strict=True)], np.float64
    )
    return np.where(np.isfinite(best), best, 0.0)


def of_record(call: Call) -> Floats:
    """The cosine of its record and the request (FlexA-Mem, arXiv 2610.33274, section 3.3); zero without a record."""
    view, vectors = call.view, call.view.notes.vectors
    if vectors is None or call.asked.vector is None:
        return np.zeros(len(view))
    # einsum: a cosine is the same whatever stands beside it.
    cosine = np.round(np.einsum("ud,d->u", np.nan_to_num(vectors[view.row]), call.asked.vector), 6)
    return np.where(view.has_record, cosine, 0.0)


def of_best_span(call: Call) -> Floats:
    """The best cosine of the request and a span of the unit; zero for a unit that may go on behind what is visible: how
    its last span ends is none of the request's business.

    How unit retrieval, A-Mem's search and AFM see a unit in FlexA-Mem (arXiv 2610.33274, appendix C and E.3).
    """
    view, spans = call.view, call.view.notes.spans
    found = np.zeros(len(view))
    if spans is None or call.asked.vector is None:
        return found
    best = np.full(len(view.notes.units.first), -np.inf)
    cosine = np.round(np.einsum("sd,d->s", spans.vectors, call.asked.vector), 6)
    np.maximum.at(best, spans.unit, cosine)
    return np.where(view.has_record & np.isfinite(best[view.row]), best[view.row], 0.0)


def of_ranker(call: Call) -> Floats:
    """The best of its turns by the learned ranker, whose scores are put between 0 (the last of the pool) and 1."""
    return of_best_turn(call, scaled(call.asked.learned))


def of_choice(call: Call) -> Floats:
    """By what the profile chose (`relevance`)."""
    return of_record(call) if call.options.relevance == "record" else of_best_turn(call, call.asked.late)


def scaled(scores: Floats) -> Floats:
    """Scores between 0, the lowest, and 1, the highest; NaN stays."""
    known = scores[np.isfinite(scores)]
    if not len(known):
        return scores
    low, high = float(known.min()), float(known.max())
    return (scores - low) / (high - low) if high > low else np.where(np.isfinite(scores), 1.0, np.nan)

"""Unit retrieval: the units with the span that is most like the request (FlexA-Mem, arXiv 2610.33274, appendix C)."""

from __future__ import annotations

import numpy as np

from pipeline.memory.call import Call
from pipeline.memory.designs.filling import best_first, filled
from pipeline.memory.designs.once import once_a_request
from pipeline.memory.draft import Draft
from pipeline.memory.relevance import of_best_span, of_best_turn
from pipeline.recall.history import Floats


def unit_retrieval(call: Call) -> Draft:
    """The most alike units that fit, as they were, in the order of time.

    An agent's request is one text, which begins with its task and ends with its newest step; there are no vectors of
    the two to be added up.
    """
    scores = best_spans(call)
    return filled(call, best_first(call, scores), scores)


def best_spans(call: Call) -> Floats:
    """relevance.of_best_span, once for the budgets and designs of a request."""
    return once_a_request(call, "best spans", lambda: closed_or_by_turn(call, of_best_span(call)))


def closed_or_by_turn(call: Call, of_spans: Floats) -> Floats:
    """A score by spans; of a unit without a record, as it may go on, by its best turn: where its spans end depends on
    what follows, which the request does not see."""
    return np.where(call.view.has_record, of_spans, of_best_turn(call, call.asked.dense))

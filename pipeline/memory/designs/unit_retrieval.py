"""Unit retrieval: the units with the span that is most like the request (FlexA-Mem, arXiv 2610.33274, appendix C)."""

from __future__ import annotations

from pipeline.memory.call import Call
from pipeline.memory.designs.filling import best_first, filled
from pipeline.memory.designs.once import once_a_request
from pipeline.memory.draft import Draft
from pipeline.memory.relevance import of_best_span
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
    return once_a_request(call, "best spans", lambda: of_best_span(call))

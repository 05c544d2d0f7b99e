"""Note retrieval after A-Mem (Xu et al. 2025, arXiv 2502.12110), as FlexA-Mem compares with it (arXiv 2610.33274,
appendix C): notes found by what is written of them and by their own words, shown as they were.

Ours differs: records are the profile's and are never rewritten by later ones, and links join the records that are most
alike where A-Mem lets a language model choose them.
"""

from __future__ import annotations

import numpy as np

from pipeline.memory.call import Call
from pipeline.memory.designs.filling import best_first, filled
from pipeline.memory.designs.once import once_a_request
from pipeline.memory.designs.unit_retrieval import best_spans
from pipeline.memory.draft import Draft
from pipeline.memory.recovery import excerpt_that_fits, raw_or_nothing
from pipeline.memory.relevance import of_record
from pipeline.recall.history import Floats


def note_retrieval(call: Call) -> Draft:
    """The notes of the search that fit, in the order of time."""
    order, scores = found_notes(call)
    return filled(call, order, scores)


def note_retrieval_degraded(call: Call) -> Draft:
    """The same notes, each at the highest resolution that fits, still without a timeline: the renderer alone."""
    order, scores = found_notes(call)
    return filled(call, order, scores, _degraded)


def found_notes(call: Call) -> tuple[list[int], Floats]:
    """Past units in the order of the search, and the score of each visible one."""
    return once_a_request(call, "notes", lambda: _search(call))


def _search(call: Call) -> tuple[list[int], Floats]:
    """The notes that are most like the request, then those that they are linked to, then all others."""
    scores = np.maximum(of_record(call), best_spans(call))
    order = best_first(call, scores)
    best = order[: call.options.seeds]
    past = len(call.past)
    linked = [unit for note in best for unit in call.view.linked[note] if unit < past]
    return list(dict.fromkeys([*best, *linked, *order])), scores


def _degraded(call: Call, unit: int, alone: int, room: int) -> tuple[tuple[int, ...] | None, int] | None:
    """As fit_or_degrade, but where not even the record has room no excerpt is made."""
    shown = raw_or_nothing(call, unit, alone, room)
    if shown is not None or (call.view.has_record[unit] and call.record_tokens(unit) > room):
        return shown
    return excerpt_that_fits(call, unit, alone, room)

"""What is shown of notes that have evolved: those that are most like the request, and what they are linked to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.memory.call import Call
from pipeline.memory.designs.filling import best_first, filled
from pipeline.memory.designs.once import once_a_request
from pipeline.memory.draft import Draft
from pipeline.memory.llm_designs.evolving_notes import ByNow, Linked
from pipeline.memory.llm_designs.prefixes import prefixes
from pipeline.memory.llm_designs.telling import unit_lines
from pipeline.memory.llm_designs.words import Words
from pipeline.memory.relevance import of_record
from pipeline.recall.history import Floats

_HALF = 0.5
"""What BM25 and what the cosine counts, as in A-Mem's own search."""

Told = Mapping[str, Mapping[str, Any]]
"""The steps of a history's chain, rows of LLM_NOTES by prefix."""


def evolving_notes(call: Call, told: Told, words: Words) -> Draft:
    """The notes of the search that fit, as they were, in the order of time."""
    order, scores = once_a_request(call, "evolved notes", lambda: _search(call, told, words))
    return filled(call, order, scores)


def replayed(call: Call, told: Told) -> ByNow:
    """The notes as they are once the call's past is read; what was not written links nothing."""
    stored = call.view.notes.units
    row_of = {
        place: row
        for row, place in enumerate(zip(stored.session_index.tolist(), stored.unit_index.tolist(), strict=True))
    }
    by_now = ByNow()
    for unit, prefix in zip(call.recorded, prefixes(call, call.recorded), strict=True):
        linked = [
            Linked(row_of[each["session_index"], each["unit_index"]], tuple(each["tags"]), each["description"])
            for each in (told[prefix]["linked"] if prefix in told else ())
        ]
        by_now = by_now.with_note(int(call.view.row[unit]), linked)
    return by_now


def _search(call: Call, told: Told, words: Words) -> tuple[list[int], Floats]:
    """The notes that are most like the request, then those that they are linked to, then all others."""
    by_now = replayed(call, told)
    scores = _scores(call, by_now, words)
    order = best_first(call, scores)
    best = order[: call.options.seeds]
    unit_of = call.view.unit_of_row
    linked = [unit_of[row] for note in best for row in by_now.links.get(int(call.view.row[note]), ())]
    return list(dict.fromkeys([*best, *linked, *order])), scores


def _scores(call: Call, by_now: ByNow, words: Words) -> Floats:
    """BM25 of each past note as it is by now, of the best one 1, and the cosine of its record, each counting half; of a
    unit without a record BM25 of what was said."""
    units, rows = call.view.notes.units, call.view.row
    texts = [
        by_now.text(int(rows[unit]), units) if call.view.has_record[unit] else "\n".join(unit_lines(call, unit))
        for unit in call.past
    ]
    bm25 = np.clip(words.bm25(texts, call.asked.text), 0, None) if texts else np.zeros(0)
    scores = np.zeros(len(call.view))
    scores[: len(texts)] = bm25 / max(float(bm25.max(initial=0.0)), 1e-12)
    return np.round(_HALF * scores + _HALF * np.clip(of_record(call), 0, None), 6)

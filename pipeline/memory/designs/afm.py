"""Adaptive Focus Memory (Cruz 2025, as FlexA-Mem, arXiv 2610.33274, describes it in section 2 and appendix E.3): a unit
is shown whole, compressed or as a placeholder, by how alike, how recent and how important it is.

Ours differs: the compressed form is the record, and importance goes by the kinds of its facts, where AFM asks a
language model for both. The paper's thresholds (0.45, 0.25) are for another embedder; these and the half-life are the
best of a grid on LoCoMo conversations 0 to 2, by the share of requests all of whose evidence is shown verbatim at
2,000, 4,000 and 8,000 tokens.
"""

from __future__ import annotations

import numpy as np

from pipeline.memory.call import Call
from pipeline.memory.designs.once import once_a_request
from pipeline.memory.designs.unit_retrieval import best_spans
from pipeline.memory.draft import Block, Draft
from pipeline.memory.lines import Line
from pipeline.recall.history import Floats

FULL, COMPRESSED = 0.4, 0.35
"""The lowest scores of these two forms."""
HALF_LIFE = 200
"""Units after which recency counts half."""
_TOLD = ("event", "plan", "preference", "update")
"""Kinds of facts that are likely to be asked for."""
_IMPORTANCE = (0.7, 0.85, 1.0)
"""Of a unit without a fact, with one, and with one of these kinds."""


def afm(call: Call) -> Draft:
    """Units packed from the oldest on, each in the form that its score earns, or the next one that fits."""
    scores = once_a_request(call, "afm", lambda: _scores(call))
    room = call.allowance
    blocks: list[Block] = []
    for unit in call.past:
        score = float(scores[unit])
        for lines in _forms(call, unit, score):
            cost = call.counts.lines(lines)
            if cost <= room:
                blocks.append(Block(unit, tuple(lines), len(blocks) + 1))
                room -= cost
                break
    return Draft(blocks=tuple(blocks))


def _forms(call: Call, unit: int, score: float) -> list[list[Line]]:
    """The lines of a unit in the form that its score earns, and in those below."""
    forms = [[call.writer.left_out(unit)]]
    if score >= COMPRESSED and call.view.has_record[unit]:
        forms.insert(0, [call.writer.record(unit)])
    if score >= FULL:
        forms.insert(0, call.writer.raw(unit, 0, score))
    return forms


def _scores(call: Call) -> Floats:
    age = np.arange(len(call.view))[::-1]
    scores: Floats = best_spans(call) * 0.5 ** (age / HALF_LIFE) * _importance(call)
    return np.round(scores, 6)


def _importance(call: Call) -> Floats:
    """By the kinds of facts that are told of each unit: none, any, or one that is likely to be asked for."""
    view = call.view
    levels = np.zeros(len(view), np.int64)
    for unit in np.flatnonzero(view.has_record).tolist():
        kinds = {fact["kind"] for fact in view.notes.units.facts[view.row[unit]]}
        levels[unit] = 2 if kinds.intersection(_TOLD) else int(bool(kinds))
    return np.array(_IMPORTANCE)[levels]

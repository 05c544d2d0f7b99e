"""MemGAS (Xu et al. 2025, arXiv 2505.19549; FlexA-Mem, arXiv 2610.33274, appendix C), without the filter that asks a
language model: units at several granularities, linked where they are alike, and ranked by a walk from those that the
request is like.

Ours differs in what stands for a granularity: the mean of a unit's spans for the unit, its best turn in the pool, its
record, and for its keywords how much of the request's terms they have, as those have no vector of their own. Alike are
records, by one mixture over all pairs that are seen, where MemGAS fits one to each new memory.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from pipeline.memory.call import Call
from pipeline.memory.designs.filling import best_first, filled
from pipeline.memory.designs.mixture import border
from pipeline.memory.designs.once import once_a_request, once_a_view
from pipeline.memory.designs.pagerank import pagerank
from pipeline.memory.designs.unit_retrieval import closed_or_by_turn
from pipeline.memory.draft import Draft
from pipeline.memory.relevance import of_best_turn, of_record
from pipeline.recall.analyzer import analyze
from pipeline.recall.history import Floats, Ints

_TEMPERATURE = 0.05
"""Of the softmax that makes shares of likenesses: over cosines as they are, all units would have about the same. This
and the next were chosen on LoCoMo conversations 0 to 2, by the share of requests all of whose evidence is shown."""
_DAMPING = 0.3


def memgas(call: Call) -> Draft:
    """The units where the walk is most, as they were, as far as they fit, in the order of time."""
    scores = once_a_request(call, "memgas", lambda: _walk(call))
    return filled(call, best_first(call, scores), scores)


def _walk(call: Call) -> Floats:
    likeness = np.stack([_of_units(call), of_best_turn(call, call.asked.dense), of_record(call), _of_keywords(call)])
    return pagerank(once_a_view(call, "memgas links", lambda: _links(call)), _mixed(likeness), _DAMPING)


def _mixed(likeness: Floats) -> Floats:
    """The share of each unit over all granularities: one says the more, the fewer units it points to (entropy)."""
    if likeness.shape[1] < 2:
        return np.ones(likeness.shape[1])
    raised = np.exp((likeness - likeness.max(axis=1, keepdims=True)) / _TEMPERATURE)
    share = raised / raised.sum(axis=1, keepdims=True)
    entropy = -(share * np.log(share + 1e-12)).sum(axis=1) / np.log(likeness.shape[1])
    weight = 1 / (entropy + 1e-3)
    mixed: Floats = weight @ share / weight.sum()
    return mixed


def _links(call: Call) -> Floats:
    """The likeness of units whose records are of the alike ones, shape (units, units); zero for all others."""
    view, vectors = call.view, call.view.notes.vectors
    links = np.zeros((len(view), len(view)))
    recorded = np.flatnonzero(view.has_record)
    if vectors is None or len(recorded) < 2:
        return links
    of_record = vectors[view.row[recorded]]
    cosine = np.round(np.einsum("id,jd->ij", of_record, of_record), 6)
    from_where = border(cosine[np.triu_indices(len(recorded), 1)])
    alike = (cosine >= max(from_where, 0)) & ~np.eye(len(recorded), dtype=np.bool_)
    links[np.ix_(recorded, recorded)] = np.where(alike, cosine, 0)
    return links


def _of_units(call: Call) -> Floats:
    """The cosine of the request and the mean of a unit's spans."""
    view, spans, asked = call.view, call.view.notes.spans, call.asked.vector
    if spans is None or asked is None:
        return np.zeros(len(view))
    means = once_a_view(call, "means of spans", lambda: _means(call))
    return closed_or_by_turn(call, np.round(np.einsum("ud,d->u", means, asked), 6))


def _means(call: Call) -> Floats:
    """The mean of the visible spans of each unit, scaled to unit length, shape (units, dim)."""
    view, spans = call.view, call.view.notes.spans
    assert spans is not None
    total = np.zeros((len(view.notes.units.first), spans.vectors.shape[1]))
    seen = view.seen[spans.last]
    np.add.at(total, spans.unit[seen], spans.vectors[seen])
    length = np.linalg.norm(total, axis=1, keepdims=True)
    means: Floats = np.divide(total, length, out=total, where=length > 0)[view.row]
    return means


def _of_keywords(call: Call) -> Floats:
    """The share of the request's terms that the keywords of a unit have, rare ones counting more."""
    query = call.asked.query
    has = np.array([np.isin(query, terms) for terms in once_a_view(call, "keywords", lambda: _keywords(call))])
    if not has.size:
        return np.zeros(len(call.view))
    idf = np.log1p(len(has) / (1 + has.sum(axis=0)))
    found: Floats = has @ idf / idf.sum()
    return np.round(found, 6)


def _keywords(call: Call) -> list[Ints]:
    """The terms of the keywords, tags and description of each unit that may show its record."""
    view = call.view
    told = [view.notes.units.found_by[row] for row in view.row.tolist()]
    shown = [text if has else "" for text, has in zip(told, view.has_record.tolist(), strict=True)]
    return [view.notes.coded(terms) for terms in analyze(pl.Series(shown, dtype=pl.String)).to_list()]

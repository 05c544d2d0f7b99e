"""A graph of facts, after HippoRAG (Gutierrez et al. 2024, arXiv 2405.14831, and 2025, arXiv 2502.14802): what a
request names leads over the facts that name it, and over other things that these name, to turns that tell of them.

Ours differs: facts and what they name come from rules, not from triples that a language model reads out of a text; a
thing is not joined to one of a like name; and turns, not passages, are at the end of the walk. As HippoRAG 2 does, a
walk also begins at the turns that are most like the request, with a small share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from pipeline.memory.call import Call
from pipeline.memory.designs.once import once_a_request, once_a_view
from pipeline.memory.designs.pagerank import pagerank
from pipeline.memory.designs.piece_retrieval import pieces_alone
from pipeline.memory.draft import Draft
from pipeline.memory.piece_orders import pieces_by_turn
from pipeline.recall.history import Floats
from pipeline.records.details import terms

_BY_LIKENESS = 0.05
"""The share of the walk that begins at turns: as in HippoRAG 2."""


@dataclass(frozen=True)
class _Graph:
    """Nodes are the turns of the history by place, then facts, then what they name (`named`, by its key).

    `told_by` counts the facts that name each of those.
    """

    edges: Any
    named: dict[str, int]
    told_by: Floats


def fact_graph(call: Call) -> Draft:
    """The pieces of the turns where the walk is most, as far as they fit."""
    order, scores = once_a_request(call, "fact graph", lambda: pieces_by_turn(call, _of_turns(call)))
    return pieces_alone(call, order, scores)


def _of_turns(call: Call) -> Floats:
    graph = once_a_view(call, "fact graph", lambda: _graph(call))
    n_turns = len(call.view.seen)
    start = np.zeros(graph.edges.shape[0])
    for key in terms(call.asked.text.split()):
        if key in graph.named:
            # What few facts name says more (node specificity).
            start[graph.named[key]] = 1 / graph.told_by[graph.named[key]]
    like = np.where(call.view.seen, np.clip(np.nan_to_num(call.asked.dense), 0, None), 0)
    start *= (1 - _BY_LIKENESS) / max(start.sum(), 1e-12)
    start[:n_turns] += _BY_LIKENESS * like / max(like.sum(), 1e-12)
    return pagerank(graph.edges, start)[:n_turns]


def _graph(call: Call) -> _Graph:
    """Of the units that may show a record: each fact with the turns that tell it and what it names."""
    view = call.view
    turns, units = view.notes.turns, view.notes.units
    place = {
        pair: at for at, pair in enumerate(zip(turns.session_index.tolist(), turns.turn_index.tolist(), strict=True))
    }
    of_facts: list[list[int]] = []
    names: list[dict[str, float]] = []
    for row in view.row[view.has_record].tolist():
        session = int(units.session_index[row])
        for fact in units.facts[row]:
            of_facts.append([place[session, turn] for turn in fact["turns"]])
            names.append(terms(fact["text"].split()))
    n_turns, n_facts = len(turns.text), len(names)
    named = {key: 0 for told in names for key in told}
    named = {key: n_turns + n_facts + number for number, key in enumerate(named)}
    edges = [
        (n_turns + fact, node, weight)
        for fact, (told_in, told) in enumerate(zip(of_facts, names, strict=True))
        for node, weight in [*((turn, 1.0) for turn in told_in), *((named[key], worth) for key, worth in told.items())]
    ]
    fact, node, weight = (np.array(values) for values in zip(*edges, strict=True)) if edges else (np.zeros(0, int),) * 3
    n_nodes = n_turns + n_facts + len(named)
    half = csr_array((weight, (fact, node)), shape=(n_nodes, n_nodes))
    told_by = np.bincount(node, minlength=n_nodes).astype(np.float64)
    return _Graph(half + half.T, named, told_by)

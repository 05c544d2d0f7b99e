"""The two modes of recovery (FlexA-Mem, arXiv 2610.33274, sections 3.2 to 3.4)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pipeline.memory.call import Call
from pipeline.memory.draft import Draft, Picked, Recovered
from pipeline.memory.lines import OMITTED, Line
from pipeline.memory.timeline import Entry, Tree
from pipeline.recall.history import Floats, Ints


def timeline(call: Call, room: int) -> tuple[Entry, ...]:
    """The timeline of the past units within so many tokens."""
    tokens = [call.record_tokens(unit) for unit in call.recorded]
    nodes = {node: call.node_tokens(node) for node in call.view.notes.nodes}
    return tuple(Tree(call.view, call.recorded, tokens, nodes).within(room))


@dataclass(frozen=True)
class Candidates:
    """Units in the order in which they are visited, and the score of each (g)."""

    units: tuple[int, ...]
    scores: tuple[float, ...]


def candidates(call: Call, relevance: Floats, *, links: bool = True) -> Candidates:
    """The seeds and what they reach (equation 2). `relevance` is of each past unit, c; what is below zero counts as
    zero, or a discount would raise it. Of equal scores the earlier unit comes first."""
    worth = np.clip(np.nan_to_num(relevance[: len(call.past)]), 0, None)
    seeds = np.lexsort((np.arange(len(worth)), -worth))[: call.options.seeds].tolist()
    found: dict[int, float] = {}
    for seed in seeds:
        reached = {seed - 1, seed + 1} | (set(call.view.linked[seed]) if links else set())
        found[seed] = max(found.get(seed, 0.0), float(worth[seed]))
        for unit in reached:
            if 0 <= unit < len(worth) and unit != seed:
                found[unit] = max(found.get(unit, 0.0), call.options.decay * float(worth[seed]))
    ordered = sorted(found, key=lambda unit: (-found[unit], unit))
    return Candidates(tuple(ordered), tuple(found[unit] for unit in ordered))


Resolve = Callable[[Call, int, int, int], tuple[tuple[int, ...] | None, int] | None]
"""From a call, a unit, the tokens of its record if that stands alone (else 0), and the room left, to what is shown of
the unit (None: all of it) and its cost; None where the record is all that fits."""


def fit_or_degrade(call: Call, unit: int, alone: int, room: int) -> tuple[tuple[int, ...] | None, int] | None:
    """The highest resolution that fits (equations 3 and 4)."""
    cost = call.raw_tokens(unit) - alone
    return (None, cost) if cost <= room else excerpt_that_fits(call, unit, alone, room)


def excerpt_that_fits(call: Call, unit: int, alone: int, room: int) -> tuple[tuple[int, ...] | None, int] | None:
    """An excerpt where that fits."""
    pieces = excerpt(call, unit)
    if not pieces:
        return None
    cost = call.counts.lines(call.writer.excerpt(unit, pieces, 0, None)) - alone
    return (pieces, cost) if cost <= room else None


def raw_or_nothing(call: Call, unit: int, alone: int, room: int) -> tuple[tuple[int, ...] | None, int] | None:
    """The unit as it was where that fits."""
    cost = call.raw_tokens(unit) - alone
    return (None, cost) if cost <= room else None


def excerpt(call: Call, unit: int) -> tuple[int, ...]:
    """The pieces of a unit that match best, up to the tokens of an excerpt, in their order (section 3.3).

    They are ranked against the request; for an agent against its newest unit alone, as the task stays the same for all
    of an episode (appendix A).
    """
    query = call.newest_terms if call.is_agent else call.query
    scores = call.bm25(query)
    places = call.view.pieces_of[unit]
    left = call.options.excerpt_tokens
    taken = []
    for place in places[np.lexsort((places, -scores[places]))].tolist():
        n_tokens = int(call.view.notes.pieces.n_tokens[call.view.piece[place]])
        if n_tokens <= left:
            taken.append(place)
            left -= n_tokens
    return tuple(sorted(taken))


def unit_recovery(
    call: Call,
    relevance: Floats,
    *,
    resolve: Resolve = fit_or_degrade,
    links: bool = True,
    with_timeline: bool = True,
    in_place: bool = True,
    order: Callable[[Candidates], Candidates] = lambda found: found,
) -> Draft:
    """A timeline with the units that the request concerns, each at the highest resolution that fits (section 3.3)."""
    found = order(candidates(call, relevance, links=links))
    entries = timeline(call, unit_share(call, found)) if with_timeline else ()
    room = call.allowance - sum(entry.n_tokens for entry in entries)
    standing = {entry.units[0] for entry in entries if entry.node is None}
    recovered = []
    for rank, (unit, score) in enumerate(zip(found.units, found.scores, strict=True), start=1):
        alone = call.record_tokens(unit) if in_place and unit in standing else 0
        shown = resolve(call, unit, alone, room)
        if shown is not None:
            pieces, cost = shown
            room -= cost
            recovered.append(Recovered(unit, rank, score, pieces))
    return Draft(entries, tuple(recovered), in_place=in_place)


def unit_share(call: Call, found: Candidates) -> int:
    """The room of the timeline beside recovered units (section 3.2): its share, or what all of them leave, raw."""
    raw = sum(
        max(call.raw_tokens(unit) - (call.record_tokens(unit) if call.view.has_record[unit] else 0), 0)
        for unit in found.units
    )
    return max(share(call), call.allowance - raw)


def share(call: Call) -> int:
    """The timeline's share of the allowance (section 3.2).

    For an agent it is a share of the larger of the allowance and the allowance beside a full window (appendix A), so
    that a long newest unit hardly changes what is merged; what then does not fit is hidden for this call.
    """
    if call.is_agent:
        return min(int(call.rho * max(call.allowance, call.full_window_allowance)), call.allowance)
    return int(call.rho * call.allowance)


def piece_recovery(call: Call, order: Ints, scores: Floats, *, with_timeline: bool = True) -> Draft:
    """A timeline within its share, and below it the first pieces of an order that fit (section 3.4).

    `order` has places among the view's pieces, `scores` is of all of them.
    """
    entries = timeline(call, share(call)) if with_timeline else ()
    room = call.allowance - sum(entry.n_tokens for entry in entries)
    return Draft(entries, picked=fitting_pieces(call, order, scores, room))


def fitting_pieces(call: Call, order: Ints, scores: Floats, room: int) -> tuple[Picked, ...]:
    """The pieces of an order that fit, those that do not are passed over."""
    writer, turns = call.writer, call.view.notes.turns
    mark = call.counts.lines([Line(OMITTED)])
    picked: list[Picked] = []
    shown: set[int] = set()
    opened: set[int] = set()
    left = room
    for rank, piece in enumerate(order.tolist(), start=1):
        if left < _LEAST:
            break
        session = int(turns.session_index[writer.span(piece).place])
        header, line = call.piece_tokens(piece)
        # A mark stands between two pieces of a session that do not follow each other.
        marks = (1 - (piece - 1 in shown) - (piece + 1 in shown)) * mark if session in opened else header
        if line + marks <= left:
            left -= line + marks
            opened.add(session)
            shown.add(piece)
            score = float(scores[piece])
            picked.append(Picked(piece, rank, None if math.isnan(score) else score))
    return tuple(picked)


_LEAST = 6
"""Tokens with which a piece may still begin: a line of less says nothing."""

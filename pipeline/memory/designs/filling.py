"""Units shown in the order of time, as many as fit, without a timeline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.memory.call import Call
from pipeline.memory.draft import Block, Draft, Recovered
from pipeline.memory.head_and_tail import head_and_tail
from pipeline.memory.recovery import Resolve, raw_or_nothing
from pipeline.memory.relevance import of_choice
from pipeline.recall.history import Floats

LEAST = 24
"""Tokens with which a unit may still begin: its label takes half of them."""


def best_first(call: Call, scores: Floats) -> list[int]:
    """The past units by a score of all visible units; of equal ones the earlier first."""
    past = scores[: len(call.past)]
    return [int(unit) for unit in np.lexsort((np.arange(len(past)), -past))]


def filled(call: Call, order: Sequence[int], scores: Floats, resolve: Resolve = raw_or_nothing) -> Draft:
    """The units of an order that fit, each as `resolve` shows it; those that do not are passed over."""
    recovered = fitting_units(call, order, scores, call.allowance, resolve)
    return something(call, Draft(recovered=recovered), order)


def fitting_units(
    call: Call, order: Sequence[int], scores: Floats, room: int, resolve: Resolve = raw_or_nothing
) -> tuple[Recovered, ...]:
    """The units of an order that fit into so many tokens, each as `resolve` shows it."""
    recovered = []
    for rank, unit in enumerate(order, start=1):
        if room < LEAST:
            break
        shown = resolve(call, unit, 0, room)
        if shown is not None:
            pieces, cost = shown
            room -= cost
            recovered.append(Recovered(unit, rank, float(scores[unit]), pieces))
    return tuple(recovered)


def something(call: Call, draft: Draft, order: Sequence[int]) -> Draft:
    """The draft; where it shows nothing, as no unit has room, what fits of the first of an order: its head and tail."""
    is_empty = not (draft.entries or draft.recovered or draft.picked or draft.blocks)
    if not is_empty or call.window or not order:
        return draft
    writer, unit = call.writer, order[0]
    label = writer.raw(unit, 1, None)[:1]
    room = call.allowance - call.counts.lines(label)
    while room > 0:
        kept = head_and_tail(writer.unit_spans(unit), call.view.notes.turns.text, room, call.counts.many)
        lines = [*label, *writer.spans(kept, "raw", 1, None)]
        if call.counts.lines(lines) <= call.allowance:
            return Draft(blocks=(Block(unit, tuple(lines), 1),))
        room = room * 9 // 10  # who speaks was not counted
    return draft


def something_relevant(call: Call, draft: Draft) -> Draft:
    """The same, of the unit that unit recovery would show first."""
    return something(call, draft, best_first(call, of_choice(call)))

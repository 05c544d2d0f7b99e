"""Unit recovery with a part done otherwise (FlexA-Mem, arXiv 2610.33274, appendix A, B and E.11)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from pipeline.memory.call import Call
from pipeline.memory.draft import Draft, Recovered
from pipeline.memory.recovery import (
    Candidates,
    candidates,
    excerpt_that_fits,
    raw_or_nothing,
    unit_recovery,
)
from pipeline.memory.relevance import of_choice


def selection_after(call: Call) -> Draft:
    """The same units below the timeline, under a header; the records of those that are whole stay in it."""
    return unit_recovery(call, of_choice(call), in_place=False)


def fixed_excerpts(call: Call) -> Draft:
    """An excerpt of every candidate that fits, however much room there is."""
    return unit_recovery(call, of_choice(call), resolve=excerpt_that_fits)


def raw_first(call: Call) -> Draft:
    """Raw text for every candidate that fits, and then excerpts of those that did not."""
    relevance = of_choice(call)
    draft = unit_recovery(call, relevance, resolve=raw_or_nothing)
    whole = {each.unit for each in draft.recovered}
    standing = {entry.units[0] for entry in draft.entries if entry.node is None}
    alone = {unit: call.record_tokens(unit) for unit in standing}
    room = call.allowance - sum(entry.n_tokens for entry in draft.entries)
    room -= sum(call.raw_tokens(unit) - alone.get(unit, 0) for unit in whole)
    found = candidates(call, relevance)
    excerpts = []
    for rank, (unit, score) in enumerate(zip(found.units, found.scores, strict=True), start=1):
        shown = None if unit in whole else excerpt_that_fits(call, unit, alone.get(unit, 0), room)
        if shown is not None:
            pieces, cost = shown
            room -= cost
            excerpts.append(Recovered(unit, rank, score, pieces))
    return replace(draft, recovered=(*draft.recovered, *excerpts))


def random_candidates(call: Call) -> Draft:
    """Every unit is a candidate, in an order that has nothing to do with the request."""

    def order(_: Candidates) -> Candidates:
        return Candidates(tuple(_shuffled(call, call.past)), (0.0,) * len(call.past))

    return unit_recovery(call, of_choice(call), order=order)


def shuffled_order(call: Call) -> Draft:
    """The candidates of unit recovery, visited in an order that has nothing to do with their scores."""

    def order(found: Candidates) -> Candidates:
        score = dict(zip(found.units, found.scores, strict=True))
        units = _shuffled(call, found.units)
        return Candidates(tuple(units), tuple(score[unit] for unit in units))

    return unit_recovery(call, of_choice(call), order=order)


def _shuffled(call: Call, units: Sequence[int]) -> list[int]:
    """In the order of a hash of the request and the unit: the same on every machine and in every version."""
    return sorted(units, key=lambda unit: hashlib.sha256(f"{unit} {call.asked.text}".encode()).digest())

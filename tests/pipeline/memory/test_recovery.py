"""A unit is shown at the highest resolution that fits beside those that are more relevant, whatever less relevant ones
there are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noted import COUNTER, request, said, stored

from pipeline.memory.call import Call
from pipeline.memory.draft import Draft, Recovered, settle
from pipeline.memory.options import MemoryOptions
from pipeline.memory.recovery import Candidates, candidates, excerpt, unit_recovery
from pipeline.memory.slates import calls
from pipeline.policies.slates import SlateOptions
from pipeline.units.cut import CutOptions

pytestmark = pytest.mark.flash

MEMORY = MemoryOptions(cut=CutOptions(reader_tokens=80), piece_tokens=12, seeds=3, excerpt_tokens=24, prompt_tokens=0)
UNITS = st.lists(st.tuples(st.integers(3, 70), st.floats(0, 1)), min_size=2, max_size=9)


def call_and_relevance(units: list[tuple[int, float]], budget: int) -> tuple[Call, np.ndarray]:
    """A request over one session for each unit, of so many words, and what each unit is worth to it."""
    turns = [
        row
        for number, (words, _) in enumerate(units)
        for row in said(number, "\n".join(f"kite {number} flew {word} times" for word in range(-(-words // 5))))
    ]
    made = stored([turns], [request("Which kite flew?")], MEMORY)
    ((call, _),) = calls(made.asked, made.noted, SlateOptions((), (budget,)), MEMORY, COUNTER, None)
    worth = [relevance for _, relevance in units]
    # A long text is cut into several units: each of them is worth as much.
    return call, np.array([worth[session] for session in call.view.notes.turns.session_index[call.view.first]])


def resolutions(draft: Draft) -> dict[int, str]:
    return {each.unit: "raw" if each.pieces is None else "excerpt" for each in draft.recovered}


@given(UNITS, st.integers(40, 500), st.integers(0, 12))
@settings(max_examples=40)
def test_less_relevant_units_change_nothing_of_what_is_shown_of_more_relevant_ones(units, budget, kept):
    call, relevance = call_and_relevance(units, budget)

    def first(found: Candidates) -> Candidates:
        return Candidates(found.units[:kept], found.scores[:kept])

    ours = resolutions(unit_recovery(call, relevance, with_timeline=False))
    alone = resolutions(unit_recovery(call, relevance, with_timeline=False, order=first))
    most_relevant = candidates(call, relevance).units[:kept]
    assert {unit: shown for unit, shown in ours.items() if unit in most_relevant} == alone


@given(UNITS, st.integers(40, 500))
@settings(max_examples=40)
def test_a_unit_is_degraded_only_where_it_does_not_fit_beside_those_that_are_more_relevant(units, budget):
    call, relevance = call_and_relevance(units, budget)
    draft = unit_recovery(call, relevance)
    shown = resolutions(draft)
    standing = {entry.units[0] for entry in draft.entries if entry.node is None}
    room = call.allowance - sum(entry.n_tokens for entry in draft.entries)
    for unit in candidates(call, relevance).units:
        record = call.record_tokens(unit) if unit in standing else 0
        raw = call.raw_tokens(unit) - record
        pieces = excerpt(call, unit)
        in_part = call.counts.lines(call.writer.excerpt(unit, pieces, 0, None)) - record if pieces else room + 1
        if raw <= room:
            assert shown[unit] == "raw"
            room -= raw
        elif in_part <= room:
            assert shown[unit] == "excerpt"
            room -= in_part
        else:
            assert unit not in shown


@given(UNITS, st.integers(60, 200))
@settings(max_examples=40)
def test_what_is_dropped_until_a_slate_fits_is_the_least_relevant(units, budget):
    call, relevance = call_and_relevance(units, budget)
    found = candidates(call, relevance).units
    # Planned without regard to room, so that most of them must go.
    text = settle(Draft(recovered=tuple(Recovered(unit, rank) for rank, unit in enumerate(found, start=1))), call)
    kept = sorted({item["rank"] for item in text.items})
    assert kept == list(range(1, len(kept) + 1))
    tokens = sum(call.raw_tokens(unit) for unit in found)
    assert (len(kept) < len(found)) == (tokens > call.total + 1), "no more is dropped than must be"

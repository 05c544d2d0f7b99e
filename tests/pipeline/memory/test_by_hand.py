"""An example of five units whose scores, costs, merging and resolutions are worked out by hand.

A token is a word. Every unit is one turn of ten words in two lines, so that its pieces have five words each. Its record
has three words, a merged record five. So the lines of a slate have these tokens:

    [u1] r r r                                            4    a record
    [u1-u4] m m m m m                                     6    a merged record
    [u1 · raw] / user: w w w w w / w w w w w              3 + 11 = 14   a unit as it was
    [u1 · excerpt] r r r / user: w w w w w                6 +  6 = 12   its record with one piece (E = 5)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from noted import request, said, stored
from words import WordCounter

from pipeline.memory.call import Asked, Call, Counts
from pipeline.memory.draft import Rendered, settle
from pipeline.memory.lines import Writer
from pipeline.memory.notes import Notes, notes
from pipeline.memory.options import MemoryOptions
from pipeline.memory.recovery import candidates, timeline, unit_recovery, unit_share
from pipeline.memory.view import View
from pipeline.recall.history import Request
from pipeline.records.record import MergedRecord, Record, UnitText
from pipeline.render.styles import STYLES
from pipeline.units.cut import CutOptions

pytestmark = pytest.mark.flash

MEMORY = MemoryOptions(
    cut=CutOptions(reader_tokens=10),
    piece_tokens=5,
    rho_reader=0.1,
    decay=0.5,
    seeds=2,
    excerpt_tokens=5,
    prompt_tokens=0,
)
RELEVANCE = np.array([0.9, 0.2, -0.1, 0.5, 0.1])
COUNTER = WordCounter()


class ThreeWords:
    name = "three words"
    identity = "three-words"

    def write(self, units: Sequence[UnitText]) -> list[Record]:
        return [Record(self.name, "ok", f"record of {unit.turns[0].text[:2]}", (), (), "", ()) for unit in units]

    def merge(self, groups: Sequence[Sequence[str]]) -> list[MergedRecord]:
        return [MergedRecord(self.name, "ok", "four records merged into one") for _ in groups]


def five_units() -> Notes:
    """u1 to u5, each a session; u5 is linked to u1 and nothing else is linked."""
    turns = [
        row
        for unit in "abcde"
        for row in said(
            ord(unit), " ".join(f"{unit}{n}" for n in range(5)) + "\n" + " ".join(f"{unit}{n}" for n in range(5, 10))
        )
    ]
    made = stored([turns], [request("e7")], MEMORY, ThreeWords(), COUNTER)
    (history,) = notes(made.noted)
    return replace(history, links=np.array([[4, 0]]))


def call(allowance: int, query: str = "e7") -> Call:
    """A request under a budget of which 95% are `allowance`."""
    history = five_units()
    bounds = Request("q", np.datetime64("NaT", "us"), None, None, np.zeros(0, np.int64), None)
    view = View(history, bounds, MEMORY.cut)
    nothing = np.full(5, np.nan)
    asked = Asked("q", "reader", query, history.coded([query]), nothing, nothing, nothing)
    budget = -(-allowance * 100 // 95)
    made = Call(view, asked, budget, MEMORY, Writer(view, STYLES["dated"](COUNTER)), Counts(COUNTER))
    assert made.allowance == made.total == allowance
    return made


def shown(draft_text: Rendered) -> list[str]:
    return draft_text.text.splitlines()


def test_lines_have_the_tokens_that_the_example_says() -> None:
    made = call(60)
    assert [made.record_tokens(unit) for unit in range(5)] == [4] * 5
    assert [made.raw_tokens(unit) for unit in range(5)] == [14] * 5
    assert made.node_tokens((1, 0)) == 6
    assert made.counts.lines(made.writer.excerpt(4, [9], 1, None)) == 12


def test_scores_are_the_best_of_seeds_links_and_neighbours_in_time() -> None:
    found = candidates(call(60), RELEVANCE)
    # Seeds, k = 2: u1 with .9 and u4 with .5. u1 reaches its neighbour u2 and, by a link, u5: .5 * .9 = .45 each.
    # u4 reaches u3 and u5: .5 * .5 = .25 each; for u5 the .45 is better. u2 and u5 tie: the earlier comes first.
    assert dict(zip(found.units, found.scores, strict=True)) == pytest.approx(
        {0: 0.9, 3: 0.5, 1: 0.45, 4: 0.45, 2: 0.25}
    )
    assert found.units == (0, 3, 1, 4, 2)
    # Without links u5 is reached from u4 alone, and ties with u3.
    assert candidates(call(60), RELEVANCE, links=False).units == (0, 3, 1, 2, 4)


def test_relevance_below_zero_counts_as_zero_and_passes_nothing_on() -> None:
    # All are seeds but the last of them: u1 reaches u2 and u5 with .5 * .1, u3 with -.2 counts as 0, as do the others.
    found = candidates(call(60), np.array([0.1, -0.4, -0.2, -0.9, -0.3]))
    assert dict(zip(found.units, found.scores, strict=True)) == pytest.approx({0: 0.1, 1: 0.05, 4: 0.05, 2: 0.0})


def test_what_all_candidates_leave_is_the_timelines_and_nothing_is_merged_then() -> None:
    made = call(75)
    found = candidates(made, RELEVANCE)
    # D = 5 * (14 - 4) = 50, and max(.1 * 75, 75 - 50) = 25. The timeline takes 5 * 4 = 20.
    assert unit_share(made, found) == 25
    assert [entry.units for entry in timeline(made, 25)] == [(0,), (1,), (2,), (3,), (4,)]
    # R = 75 - 20 = 55: all five are shown as they were, at 10 each.
    draft = unit_recovery(made, RELEVANCE)
    assert {each.unit for each in draft.recovered if each.pieces is None} == {0, 1, 2, 3, 4}
    assert settle(draft, made).n_tokens == 5 * 14


def test_the_four_oldest_are_merged_and_what_does_not_fit_is_degraded() -> None:
    made = call(60)
    # max(.1 * 60, 60 - 50) = 10, and the timeline takes 20: u1 to u4 are merged, which leaves 6 + 4 = 10.
    assert unit_share(made, candidates(made, RELEVANCE)) == 10
    entries = timeline(made, 10)
    assert [(entry.units, entry.n_tokens) for entry in entries] == [((0, 1, 2, 3), 6), ((4,), 4)]
    draft = unit_recovery(made, RELEVANCE)
    # R = 50. u1, u4 and u2 pay in full, 14 each: 36, 22 and 8 are left. u5 stands alone: as it was it would cost
    # 14 - 4 = 10, its excerpt costs 12 - 4 = 8. Nothing is left for u3.
    assert [(each.unit, each.pieces) for each in draft.recovered] == [(0, None), (3, None), (1, None), (4, (9,))]
    text = settle(draft, made)
    assert text.n_tokens == 6 + 3 * 14 + 12 == 60
    assert shown(text) == [
        "[u1-u4] four records merged into one",
        "[u1 · raw]",
        "user: a0 a1 a2 a3 a4",
        "a5 a6 a7 a8 a9",
        "[u2 · raw]",
        "user: b0 b1 b2 b3 b4",
        "b5 b6 b7 b8 b9",
        "[u4 · raw]",
        "user: d0 d1 d2 d3 d4",
        "d5 d6 d7 d8 d9",
        "[u5 · excerpt] record of e0",
        "user: e5 e6 e7 e8 e9",
    ]


def test_where_merging_is_not_enough_the_oldest_are_hidden() -> None:
    # Of 6 + 4 tokens no more than 5 have room: the merged record goes, u5 stays.
    assert [entry.units for entry in timeline(call(60), 5)] == [(4,)]
    assert timeline(call(60), 3) == ()

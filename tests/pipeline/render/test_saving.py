from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.tokens import token_counter
from pipeline.render.saving import PartSavings, Saving
from pipeline.render.slate_text import Shown, render
from pipeline.render.styles import STYLES

pytestmark = pytest.mark.flash
COUNTER = token_counter("o200k_base")
START = datetime(2023, 5, 8, 6, 0, tzinfo=UTC)
NAMES = st.sampled_from(["Oluwaseun Adeyemi", "Jean-Baptiste Moreau", "Oluwaseun Balogun", "Ana", "user"])
TIMES = st.none() | st.sampled_from([START + timedelta(hours=hours) for hours in (0, 9, 9, 24, 30)])


@st.composite
def turns(draw):
    """Sessions of up to three turns each, and an order in which they are added."""
    times = draw(st.lists(TIMES, min_size=1, max_size=6))
    places = [(session, turn) for session in range(len(times)) for turn in range(draw(st.integers(1, 3)))]
    sessions, indices = zip(*places, strict=True)
    names = draw(st.lists(NAMES, min_size=len(places), max_size=len(places)))
    shown = Shown(sessions, indices, [times[session] for session in sessions], names, ["So it is."] * len(places))
    return shown, draw(st.permutations(range(len(places))))


def tokens_alone(shown: Shown, place: int, style) -> tuple[int, int]:
    line = style.line(style.alone(shown.names[place]), shown.texts[place]) + style.after_line
    header = style.header(1, shown.session_times[place], None) + style.after_header
    return COUNTER.count(line), COUNTER.count(header)


@given(turns(), st.sampled_from(sorted(STYLES)))
def test_parts_less_what_is_saved_are_the_tokens_of_the_text_after_each_turn(drawn, name):
    shown, order = drawn
    style = STYLES[name](COUNTER)
    saving = Saving(shown, PartSavings(style, COUNTER))
    parts, added, opened = 0, [], set()
    for place in order:
        line, header = tokens_alone(shown, place, style)
        parts += line + (header if shown.session_indices[place] not in opened else 0)
        opened.add(shown.session_indices[place])
        added.append(place)
        saved = saving.with_turn(place)
        # The text has no break after its last line; after `is.` that break is no token of its own.
        assert parts - saved == COUNTER.count(render(shown, sorted(added), style))
        assert saved >= 0
        assert style.sparing or saved == 0
        saving.add(place)


def test_what_is_asked_for_but_not_added_changes_nothing():
    style = STYLES["lean"](COUNTER)
    shown = Shown([1, 2], [0, 0], [START, START], ["Ana"] * 2, ["a", "b"])
    saving = Saving(shown, PartSavings(style, COUNTER))
    assert (saving.with_turn(0), saving.with_turn(1)) == (0, 0)
    saving.add(0)
    assert saving.with_turn(1) == saving.with_turn(1) == COUNTER.count("# 8 May 2023\n") - COUNTER.count("## 06:00\n")


def test_a_legend_is_taken_off_what_names_save():
    style = STYLES["lean"](COUNTER)
    parts = PartSavings(style, COUNTER)
    lines = Counter({"Oluwaseun Adeyemi": 20})
    each = COUNTER.count(" Oluwaseun Adeyemi:") - COUNTER.count(" O:")
    assert parts.by_names(lines) == 20 * each - COUNTER.count("O = Oluwaseun Adeyemi\n")

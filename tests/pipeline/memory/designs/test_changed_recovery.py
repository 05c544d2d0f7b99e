"""Unit recovery with a part left out or done otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from slate_of import about, chat, memory, slate, units_of

pytestmark = pytest.mark.flash

TOPICS = ("roses", "radios", "marathon", "whales", "bread", "chess", "violins", "snow")
TALK = about(*TOPICS)
ASKED = "The marathon number 2?"
OPTIONS = memory(reader_tokens=800, rho_reader=0.2)


def shown(policy: str, budget: int = 700, asked: str = ASKED) -> dict[str, Any]:
    return slate(policy, TALK, asked, budget, OPTIONS)


def test_without_a_timeline_no_record_stands_by_itself():
    row = shown("no_timeline")
    assert units_of(shown("unit_recovery"), "record")
    assert set(units_of(row, "record")) <= set(units_of(row, "excerpt"))


def test_without_excerpts_nothing_is_shown_in_part():
    assert units_of(shown("unit_recovery"), "excerpt")
    row = shown("no_excerpts")
    assert not units_of(row, "excerpt")
    assert units_of(row, "raw")


def test_without_links_a_seed_reaches_those_beside_it_alone():
    options = memory(reader_tokens=800, seeds=1, excerpt_tokens=24)
    row = slate("no_links", TALK, ASKED, 2000, options)
    assert set(units_of(row, "raw")) | set(units_of(row, "excerpt")) <= {(1, 0), (2, 0), (3, 0)}


def test_a_selection_after_the_timeline_stands_under_a_header():
    text = shown("selection_after")["text"]
    above, below = text.split("\nRecovered:\n")
    assert above.startswith("[u5-u8 · ")
    assert below.startswith("[u1 · 8 May 2023 · excerpt]")
    assert "\n[u3 · 10 May 2023 · raw]\n" in below


def test_fixed_excerpts_show_nothing_whole():
    row = shown("fixed_excerpts")
    assert not units_of(row, "raw")
    assert len(units_of(row, "excerpt")) > len(units_of(shown("unit_recovery"), "excerpt"))


def test_raw_first_shows_whole_what_fits_before_a_longer_unit_has_an_excerpt():
    turns = chat(*[[f"The {topic} number {n} was fine, and so on." for n in range(size)] for topic, size in LENGTHS])
    ours, other = (slate(name, turns, ASKED, 440, OPTIONS) for name in ("unit_recovery", "raw_first"))
    assert (2, 0) in units_of(ours, "excerpt")
    assert set(units_of(other, "raw")) > set(units_of(ours, "raw"))
    assert (2, 0) not in units_of(other, "raw")


LENGTHS = (("tea", 10), ("rain", 9), ("marathon", 60), ("snow", 9), ("chess", 10))


def test_random_candidates_change_with_the_request_and_with_nothing_else():
    rows = [shown("random_candidates", asked=f"{topic}?") for topic in TOPICS]
    assert len({tuple(units_of(row, "raw")) for row in rows}) > 1
    assert shown("random_candidates") == shown("random_candidates")
    named = [(place, 0) in units_of(row, "raw") for place, row in enumerate(rows)]
    assert sum(named) < len(TOPICS) / 2, "as chance has it"
    assert all(
        (place, 0) in units_of(shown("unit_recovery", asked=f"{topic}?"), "raw") for place, topic in enumerate(TOPICS)
    )


def test_a_shuffled_order_visits_the_same_candidates():
    options = memory(reader_tokens=800, seeds=1)
    ours, other = (slate(name, TALK, ASKED, 1500, options) for name in ("no_timeline", "shuffled_order"))
    reached = {*units_of(ours, "raw"), *units_of(ours, "excerpt")}
    whole = units_of(other, "raw")
    assert whole != units_of(ours, "raw")
    assert {*whole, *units_of(other, "excerpt")} <= {*reached, (4, 0)}, "(4, 0) is linked, and found no room"

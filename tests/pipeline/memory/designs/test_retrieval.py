from __future__ import annotations

import pytest
from slate_of import about, chat, memory, slate, units_of

pytestmark = pytest.mark.flash

TALK = chat(
    ["We planted roses and tulips in the garden.", "The garden looks lovely with roses."],
    ["My brother repairs old radios in his shed.", "A radio from 1950, what a find."],
    ["The marathon was hard, I ran four hours.", "Four hours is a fine marathon."],
    ["We watched a film about whales last night.", "Whales are huge, what a film."],
    ["I baked bread with rye and seeds today.", "Rye bread with butter is the best."],
)
ASKED = "The marathon was hard, how many hours?"


def test_truncation_shows_the_newest_units_whatever_is_asked():
    row = slate("truncation", TALK, ASKED, 80)
    assert units_of(row, "raw") == [(3, 0), (4, 0)]
    assert slate("truncation", TALK, "Roses?", 80)["text"] == row["text"]


def test_truncation_shows_the_head_and_the_tail_of_a_newest_unit_that_is_too_long():
    turns = chat([f"Line {n} of a long talk." for n in range(30)])
    text = slate("truncation", turns, ASKED, 120, memory(reader_tokens=2000))["text"]
    assert text.startswith("[u1 · 8 May 2023 · raw]\nAna: Line 0 ")
    assert text.endswith("Ben: Line 29 of a long talk.")
    assert "Line 15 " not in text


def test_unit_retrieval_shows_the_most_alike_units_that_fit_in_the_order_of_time():
    row = slate("unit_retrieval", TALK, f"{ASKED} We planted roses and tulips in the garden.", 80)
    assert units_of(row, "raw") == [(0, 0), (2, 0)]
    assert "record" not in {item["resolution"] for item in row["items"]}


def test_piece_retrieval_is_piece_recovery_without_a_timeline():
    alone = slate("piece_retrieval", TALK, ASKED, 80)
    beside = slate("piece_recovery", TALK, ASKED, 80, memory(rho_reader=0.0))
    assert alone == {**beside, "policy": "piece_retrieval"}
    assert "ran four hours" in alone["text"]


def test_without_a_ranker_ranked_retrieval_goes_by_bm25():
    ranked = slate("ranked_retrieval", TALK, ASKED, 80)["text"]
    assert ranked == slate("piece_retrieval", TALK, ASKED, 80)["text"]


def test_timeline_only_shows_records_and_nothing_verbatim():
    row = slate("timeline_only", TALK, ASKED, 140)
    assert {item["resolution"] for item in row["items"]} == {"record"}
    assert len(row["items"]) > 2


def test_notes_are_shown_as_they_were_and_degraded_ones_as_excerpts_where_they_do_not_fit():
    turns = about("roses", "radios", "marathon", "whales", "bread")
    whole, degraded = (
        slate(name, turns, ASKED, 700, memory(reader_tokens=800))
        for name in ("note_retrieval", "note_retrieval_degraded")
    )
    assert units_of(whole, "raw") == units_of(degraded, "raw") == [(2, 0)]
    assert not units_of(whole, "excerpt")
    assert units_of(degraded, "excerpt") == units_of(degraded, "record") != []

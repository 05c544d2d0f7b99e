from __future__ import annotations

import pytest
from slate_of import chat, slate, units_of

from pipeline.memory.designs import afm

pytestmark = pytest.mark.flash

TALK = chat(
    ["The marathon was hard, I ran four hours.", "Four hours is a fine marathon."],
    ["My brother repairs old radios in his shed.", "A radio from 1950, what a find."],
    ["We planted roses and tulips in the garden.", "The garden looks lovely with roses."],
    ["The next marathon takes place in Oslo.", "A marathon in Oslo, how fine."],
)
ASKED = "The marathon was hard, in Oslo?"


def test_forms_go_by_the_score(monkeypatch):
    monkeypatch.setattr(afm, "FULL", 0.45)
    monkeypatch.setattr(afm, "COMPRESSED", 0.0)
    row = slate("afm", TALK, ASKED, 135)
    assert (0, 0) in units_of(row, "raw")
    assert (1, 0) in units_of(row, "record")
    monkeypatch.setattr(afm, "COMPRESSED", 0.45)
    assert "[u2 · 9 May 2023 · left out]" in slate("afm", TALK, ASKED, 135)["text"]


def test_the_oldest_are_packed_first_and_the_newest_go_without(monkeypatch):
    monkeypatch.setattr(afm, "FULL", -1.0)
    monkeypatch.setattr(afm, "COMPRESSED", -1.0)
    row = slate("afm", TALK, ASKED, 90)
    assert units_of(row, "raw")[0] == (0, 0)
    assert (3, 0) not in units_of(row, "raw"), "though it is what is asked for"


def test_what_is_old_counts_less(monkeypatch):
    monkeypatch.setattr(afm, "HALF_LIFE", 0.1)
    assert units_of(slate("afm", TALK, ASKED, 100), "raw") in ([], [(3, 0)])

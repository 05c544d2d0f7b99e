"""ReadAgent: the pages that a model asks for stand in the places of their gists."""

from __future__ import annotations

import json
import re

import pytest
from designs_of import Shown, listed
from noted import request
from slate_of import about, chat, memory, units_of

from models.interfaces import Answer, Prompt

pytestmark = pytest.mark.flash

TOPICS = ("kites", "lamps", "trains", "ports", "teas", "rains")
MEMORY = memory(reader_tokens=2000)
BUDGET = 1200


def shown(answer: str | Answer, budget: int = BUDGET, context: int = 4096) -> Shown:
    turns = about(*TOPICS)
    asked = [request("Which lamps?")]
    return Shown(turns, asked, MEMORY, lambda _: answer, ("read_agent",), (budget,), context)


def test_chosen_pages_are_shown_as_they_were_in_the_places_of_their_gists():
    row = shown('{"pages": [2]}').row("read_agent")
    assert units_of(row, "raw") == [(1, 0)]
    assert units_of(row, "record") == [(0, 0), (2, 0), (3, 0), (4, 0), (5, 0)]
    assert row["text"].index("number 11 that") > row["text"].index("kites")
    assert row["text"].index("number 11 that") < row["text"].index("trains")


def test_the_most_wanted_page_comes_first_where_not_all_have_room():
    assert units_of(shown('{"pages": [4, 2, 1]}', 1000).row("read_agent"), "raw") == [(1, 0), (3, 0)]
    assert units_of(shown('{"pages": [1, 4, 2]}', 1000).row("read_agent"), "raw") == [(0, 0), (3, 0)]


def test_the_oldest_gists_make_room_for_pages():
    row = shown('{"pages": [1]}', 700).row("read_agent")
    assert units_of(row, "raw") == [(0, 0)]
    records = units_of(row, "record")
    assert records == [(session, 0) for session in range(6 - len(records), 6)]
    assert 0 < len(records) < 5


def test_no_page_wanted_is_an_answer_and_none_that_can_be_used_is_a_failure():
    content, failed = shown('{"pages": []}'), shown(Answer("", "failed", "it broke"))
    assert content.slates.equals(failed.slates)
    assert len(units_of(content.row("read_agent"), "record")) == len(TOPICS)
    assert content.quarantine.num_rows == 0
    (note,) = failed.quarantine.to_pylist()
    assert (note["code"], note["reason"]) == ("llm_failed", "read_agent at 1200: it broke; gists only")
    assert len(shown("no").reader.asked) == 3


def test_gists_are_numbered_dated_and_the_newest_that_a_context_holds_are_shown():
    whole, cut = shown('{"pages": [6]}'), shown('{"pages": [6]}', context=700)
    assert listed(whole.prompts[0]) == [1, 2, 3, 4, 5, 6]
    assert "[1] 8 May 2023: Ana: it was kites" in whole.prompts[0].user
    kept = listed(cut.prompts[0])
    assert kept == list(range(7 - len(kept), 7))
    assert 0 < len(kept) < 6
    assert f"The {6 - len(kept)} oldest pages are left out." in cut.prompts[0].user
    (note,) = cut.quarantine.to_pylist()
    assert note["code"] == "llm_shortened"
    assert units_of(cut.row("read_agent"), "raw") == [(5, 0)]


def test_a_context_that_holds_not_one_gist_is_not_asked():
    small = shown('{"pages": [6]}', context=150)
    assert small.prompts == []
    (note,) = small.quarantine.to_pylist()
    assert "not one gist has room" in note["reason"]
    assert units_of(small.row("read_agent"), "record")


def test_a_unit_without_a_record_is_offered_by_its_beginning_and_shown_if_wanted():
    turns = chat(*[[f"Told {topic} at length and more of it."] * 6 for topic in TOPICS])
    asked = [request("Teas?", seen_session=5, seen_turn=2)]

    def wants_the_last(prompt: Prompt) -> str:
        assert re.search(r"^\[\d+\] 13 May 2023: Ana: Told rains", prompt.user, re.MULTILINE)
        return json.dumps({"pages": [listed(prompt)[-1]]})

    row = Shown(turns, asked, memory(), wants_the_last, ("read_agent",), (240,)).row("read_agent")
    assert {item["session_index"] for item in row["items"] if item["resolution"] == "raw"} == {5}

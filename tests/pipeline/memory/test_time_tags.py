"""A relative time is tagged with the date that the record gives to it, and with none that is later than the request."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from noted import COUNTER, request, said, stored

from pipeline.memory.options import MemoryOptions
from pipeline.memory.slates import memory_slates
from pipeline.memory.time_tags import dates_of_turns, time_tag
from pipeline.policies.slates import SlateOptions
from pipeline.units.cut import CutOptions

pytestmark = pytest.mark.flash
MONDAY = datetime(2023, 5, 8, 9, tzinfo=UTC)
LATE = date(2030, 1, 1)


@pytest.mark.parametrize(
    ("text", "dates", "expected"),
    [
        ("I met Ana last week.", {(date(2023, 5, 1), "week")}, " [last week = week of 1 May 2023]"),
        ("I met Ana yesterday.", {(date(2023, 5, 7), "day")}, " [yesterday = 7 May 2023]"),
        ("We moved last year.", {(date(2022, 1, 1), "year")}, " [last year = 2022]"),
        ("We moved last month.", {(date(2023, 4, 1), "month")}, " [last month = April 2023]"),
        # A record that knows better is believed, where there is no doubt which time it means.
        ("I met Ana yesterday.", {(date(2023, 5, 6), "day")}, " [yesterday = 6 May 2023]"),
        ("Not yesterday but last week.", {(date(2023, 5, 6), "day")}, ""),
        ("I met Ana.", {(date(2023, 5, 7), "day")}, ""),
        ("I met Ana yesterday.", set(), ""),
    ],
)
def test_what_a_turn_is_tagged_with(text, dates, expected):
    assert time_tag(text, MONDAY, dates, LATE) == expected


def test_no_tag_is_later_than_the_request():
    dates = {(date(2023, 5, 9), "day"), (date(2023, 5, 7), "day")}
    text = "Yesterday I packed, tomorrow we leave."
    assert time_tag(text, MONDAY, dates, date(2023, 5, 9)) == " [Yesterday = 7 May 2023; tomorrow = 9 May 2023]"
    assert time_tag(text, MONDAY, dates, date(2023, 5, 8)) == " [Yesterday = 7 May 2023]"


def test_a_session_without_a_time_has_no_tags():
    assert time_tag("I met Ana yesterday.", None, {(date(2023, 5, 7), "day")}, LATE) == ""


def test_dates_are_of_the_turns_that_their_facts_cite():
    facts = [
        {"date": date(2023, 5, 7), "precision": "day", "turns": [0, 2]},
        {"date": None, "precision": None, "turns": [1]},
    ]
    assert dates_of_turns(facts) == {0: {(date(2023, 5, 7), "day")}, 2: {(date(2023, 5, 7), "day")}}


@pytest.mark.parametrize("tags", [True, False])
def test_slates_show_tags_where_the_profile_says_so_within_the_budget_and_the_turn_stays_as_it_was(tags):
    memory = MemoryOptions(cut=CutOptions(reader_tokens=60), time_tags=tags, prompt_tokens=0)
    turns = [
        row
        for number in range(12)
        for row in said(
            number,
            f"I bought kite number {number} yesterday, and tomorrow I will fly it.",
            "Have a good time with it!",
            time=MONDAY.replace(day=8 + number),
        )
    ]
    made = stored([turns], [request("What of kite number 2?", asked_at=MONDAY.replace(day=10, hour=12))], memory)
    options = SlateOptions(("unit_recovery", "piece_recovery"), (160, 1000))
    for row in memory_slates(made.asked, made.noted, options, memory, COUNTER).to_pylist():
        assert row["n_tokens"] == COUNTER.count(row["text"]) <= 0.95 * row["budget"]
        assert "I bought kite number 2 yesterday, and tomorrow I will fly it." in row["text"]
        assert ("[yesterday = 9 May 2023]" in row["text"]) == tags
        # On 10 May it is not said what `tomorrow` was on that day: it lies behind the request.
        assert "11 May 2023" not in row["text"]

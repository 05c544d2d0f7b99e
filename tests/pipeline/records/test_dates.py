"""Dates that stand in a text, and English times counted from the session's: a table of them, and what is left out."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.dates import absolute_times, first_time, relative_times, with_dates

pytestmark = pytest.mark.flash

WEDNESDAY = datetime(2023, 5, 10, 21, 30, tzinfo=UTC)
TIMES = st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31))
SAID = """last next this past two 999 a days week weekends month years ago from now in Friday Sun May june the
yesterday before or 31 2023-02-30 February 30 2021 and tomorrow's"""
WORDS = st.lists(st.sampled_from(SAID.split()), max_size=12).map(" ".join)


@pytest.mark.parametrize(
    ("text", "day", "precision"),
    [
        ("We met yesterday.", date(2023, 5, 9), "day"),
        ("Last night was fun", date(2023, 5, 9), "day"),
        ("I was there the day before yesterday", date(2023, 5, 8), "day"),
        ("See you tomorrow!", date(2023, 5, 11), "day"),
        ("Leaving the day after tomorrow", date(2023, 5, 12), "day"),
        ("This morning I ran", date(2023, 5, 10), "day"),
        ("Two days ago", date(2023, 5, 8), "day"),
        ("about 10 days ago", date(2023, 4, 30), "day"),
        ("a week ago", date(2023, 5, 1), "week"),
        ("two weekends ago", date(2023, 4, 24), "week"),
        ("3 weeks from now", date(2023, 5, 29), "week"),
        ("five months ago", date(2022, 12, 1), "month"),
        ("three years ago", date(2020, 1, 1), "year"),
        ("I'm leaving in two days for Spain", date(2023, 5, 12), "day"),
        ("The exam is in a month.", date(2023, 6, 1), "month"),
        ("last week", date(2023, 5, 1), "week"),
        ("the week before last", date(2023, 4, 24), "week"),
        ("this weekend", date(2023, 5, 8), "week"),
        ("this past weekend", date(2023, 5, 1), "week"),
        ("next month", date(2023, 6, 1), "month"),
        ("last year's trip", date(2022, 1, 1), "year"),
        ("last Friday", date(2023, 5, 5), "day"),
        ("last Wednesday", date(2023, 5, 3), "day"),
        ("Last Fri I went", date(2023, 5, 5), "day"),
        ("this Friday", date(2023, 5, 12), "day"),
        ("this past Monday", date(2023, 5, 8), "day"),
        ("this coming Wednesday", date(2023, 5, 17), "day"),
        ("next Friday", date(2023, 5, 19), "day"),
        ("next Monday", date(2023, 5, 15), "day"),
        ("last July", date(2022, 7, 1), "month"),
        ("last May", date(2022, 5, 1), "month"),
        ("last March", date(2023, 3, 1), "month"),
        ("next June", date(2023, 6, 1), "month"),
        ("next May", date(2024, 5, 1), "month"),
        ("this December", date(2023, 12, 1), "month"),
    ],
)
def test_an_expression_is_counted_from_the_session_s_day(text: str, day: date, precision: str) -> None:
    (found,) = relative_times(text, WEDNESDAY)
    assert (found.date, found.precision) == (day, precision)


@pytest.mark.parametrize(
    "text",
    [
        "a few days ago",
        "two or three weeks ago",
        "1.5 years ago",
        "a year and two months ago",
        "more than a year ago",
        "over the last year",
        "during the past month",
        "this past year",
        "the last week of June",
        "next year or so",
        "I read it in two days",
        "on Friday",
        "this may help",
        "in today's world",
        "the last sun of autumn",
        "daylight, everyday, lastweek, yesterdays",
    ],
)
def test_what_can_be_meant_in_two_ways_is_left_out(text: str) -> None:
    assert relative_times(text, WEDNESDAY) == []


@pytest.mark.parametrize(
    ("text", "day", "precision"),
    [
        ("on 8 May 2023", date(2023, 5, 8), "day"),
        ("the 8th of May, 2023", date(2023, 5, 8), "day"),
        ("May 8th, 2023", date(2023, 5, 8), "day"),
        ("Due 2023-05-08.", date(2023, 5, 8), "day"),
        ("2023/5/8", date(2023, 5, 8), "day"),
        ("since Sept. 2021", date(2021, 9, 1), "month"),
        ("in May 2023", date(2023, 5, 1), "month"),
        ("back in 2021", date(2021, 1, 1), "year"),
    ],
)
def test_a_whole_date_needs_no_session_time(text: str, day: date, precision: str) -> None:
    (found,) = absolute_times(text, None)
    assert (found.date, found.precision) == (day, precision)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("May 8th", date(2023, 5, 8)),
        ("12 june", date(2023, 6, 12)),
        ("December 24", date(2022, 12, 24)),
        ("February 29th", date(2024, 2, 29)),
    ],
)
def test_a_date_without_a_year_is_the_nearest(text: str, day: date) -> None:
    assert [found.date for found in absolute_times(text, WEDNESDAY)] == [day]
    assert absolute_times(text, None) == []


@pytest.mark.parametrize("text", ["31 June 2023", "2023-13-01", "5/8/2023", "v2023-05-08x", "2021 people", "you may 8"])
def test_what_is_no_date_gives_none(text: str) -> None:
    assert absolute_times(text, WEDNESDAY) == []


def test_the_first_time_counts_and_a_relative_one_needs_the_session_s() -> None:
    text = "Yesterday, not on 3 May 2023"
    first = first_time(text, WEDNESDAY)
    assert first is not None
    assert first.date == date(2023, 5, 9)
    alone = first_time(text, None)
    assert alone is not None
    assert alone.date == date(2023, 5, 3)
    assert first_time("yesterday", None) is None


def test_dates_stand_behind_the_words_and_the_session_s_own_day_is_not_told() -> None:
    text = "Went yesterday, paid last week; tomorrow's the end of last year's plan. Today I rest"
    assert with_dates(text, WEDNESDAY) == (
        "Went yesterday (2023-05-09), paid last week (week of 2023-05-01); tomorrow's (2023-05-11) the end of"
        " last year's (2022) plan. Today I rest"
    )
    assert with_dates(text, None) == text


def test_places_are_those_of_the_words() -> None:
    text = "so, Last Friday we met"
    (found,) = relative_times(text, WEDNESDAY)
    assert text[found.start : found.end] == "Last Friday"


@given(WORDS, TIMES)
def test_any_text_at_any_time_gives_dates_in_order(text: str, time: datetime) -> None:
    for found in (relative_times(text, time), absolute_times(text, time)):
        assert all(0 <= told.start < told.end <= len(text) for told in found)
        assert [told.start for told in found] == sorted(told.start for told in found)
        for told in found:
            assert told.precision != "week" or told.date.weekday() == 0
            assert told.precision not in ("month", "year") or told.date.day == 1

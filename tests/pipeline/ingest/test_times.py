"""Times are UTC, need no locale, and never turn into something else when they cannot be parsed."""

from __future__ import annotations

import locale
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest.times import TimeError, parse_iso_time, parse_locomo_time, parse_longmemeval_time

Parser = Callable[[object], datetime | None]
PARSERS = (parse_longmemeval_time, parse_locomo_time, parse_iso_time)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc]


@pytest.mark.flash
@pytest.mark.parametrize(
    ("parse", "text", "time"),
    [
        (parse_longmemeval_time, "2023/05/20 (Sat) 02:21", utc(2023, 5, 20, 2, 21)),
        (parse_longmemeval_time, "2023/05/20 (Mon) 02:21", utc(2023, 5, 20, 2, 21)),
        (parse_longmemeval_time, "2023/05/20 02:21:07", utc(2023, 5, 20, 2, 21, 7)),
        (parse_locomo_time, "1:56 pm on 8 May, 2023", utc(2023, 5, 8, 13, 56)),
        (parse_locomo_time, "12:05 am on 31 December, 2022", utc(2022, 12, 31, 0, 5)),
        (parse_locomo_time, "12:05 PM on 1 sept 2022", None),
        (parse_locomo_time, "12:05 PM on 1 Sep 2022", utc(2022, 9, 1, 12, 5)),
        (parse_iso_time, "2026-11-30T09:00:00+01:00", utc(2026, 11, 30, 8)),
        (parse_iso_time, "2026-11-30T09:00:00Z", utc(2026, 11, 30, 9)),
        (parse_iso_time, "2026-11-30 09:00", utc(2026, 11, 30, 9)),
        (parse_iso_time, "2026-11-30", utc(2026, 11, 30)),
    ],
)
def test_a_written_time_is_read_as_utc(parse: Parser, text: str, time: datetime | None) -> None:
    if time is None:
        with pytest.raises(TimeError):
            parse(text)
    else:
        assert parse(text) == time


@pytest.mark.flash
@pytest.mark.parametrize("parse", PARSERS)
@pytest.mark.parametrize("absent", [None, "", "  "])
def test_an_absent_time_is_none(parse: Parser, absent: object) -> None:
    assert parse(absent) is None


@pytest.mark.flash
@pytest.mark.parametrize("parse", PARSERS)
@pytest.mark.parametrize(
    "wrong",
    [
        "yesterday",
        1684548060,
        "2023/02/30 (Thu) 02:21",
        "13:00 pm on 8 May, 2023",
        "9:61 am on 8 May, 2023",
        "9:00 am on 8 Mai, 2023",
        "2023-13-01",
        "0001-01-01T00:00:00+23:00",
        "２０２３/05/20 (Sat) 02:21",
        ["2023"],
    ],
)
def test_a_time_that_cannot_be_parsed_raises(parse: Parser, wrong: object) -> None:
    with pytest.raises(TimeError):
        parse(wrong)


@given(st.datetimes(min_value=datetime(1000, 1, 1)))
def test_all_formats_agree_to_the_minute_in_any_locale(time: datetime) -> None:
    time = time.replace(second=0, microsecond=0, tzinfo=UTC)
    before = locale.setlocale(locale.LC_TIME)
    locale.setlocale(locale.LC_TIME, "C")
    try:
        texts = [time.strftime("%Y/%m/%d (%a) %H:%M"), time.strftime("%I:%M %p on %d %B, %Y"), time.isoformat()]
    finally:
        locale.setlocale(locale.LC_TIME, before)
    assert [parse(text) for parse, text in zip(PARSERS, texts, strict=True)] == [time] * 3

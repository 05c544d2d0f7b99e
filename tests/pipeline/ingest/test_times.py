"""Times are UTC, need no locale, and never turn into something else when they cannot be parsed."""

from __future__ import annotations

import _strptime
import locale
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest.times import (
    TimeError,
    parse_epoch_or_iso_time,
    parse_iso_time,
    parse_locomo_time,
    parse_longmemeval_time,
    parse_memsim_time,
    parse_realtalk_time,
)

Parser = Callable[[object], datetime | None]
PARSERS = (parse_longmemeval_time, parse_locomo_time, parse_iso_time, parse_realtalk_time, parse_memsim_time)


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
        (parse_realtalk_time, "29.12.2023, 00:51:12", utc(2023, 12, 29, 0, 51, 12)),
        (parse_realtalk_time, "1.2.2024 10:05", utc(2024, 2, 1, 10, 5)),
        (parse_memsim_time, "2024年04月01日 周一 08:15", utc(2024, 4, 1, 8, 15)),
        (parse_memsim_time, "2024年4月7日 星期日 20:50:30", utc(2024, 4, 7, 20, 50, 30)),
        (parse_memsim_time, "2024年04月01日", utc(2024, 4, 1)),
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
        "12.29.2023, 00:51:12",
        "29.12.2023, 24:00:00",
        "2024年04月31日 周一 08:15",
        "2024年04月01日 周一 25:00",
        "2024年04月01日 周八 08:15",
        "x" * 1_000_000,
        ["2023"],
    ],
)
def test_a_time_that_cannot_be_parsed_raises(parse: Parser, wrong: object) -> None:
    with pytest.raises(TimeError) as raised:
        parse(wrong)
    assert len(str(raised.value)) < 200


@pytest.mark.flash
def test_an_iso_time_without_a_zone_is_of_the_zone_that_is_given() -> None:
    zone = timezone(timedelta(hours=8))
    assert parse_iso_time("2026-11-30T09:00:00", zone) == utc(2026, 11, 30, 1)
    assert parse_iso_time("2026-11-30T09:00:00Z", zone) == utc(2026, 11, 30, 9)
    with pytest.raises(TimeError):
        parse_iso_time("0001-01-01T00:00:00", zone)


@given(st.datetimes(min_value=datetime(1000, 1, 1)))
def test_all_formats_agree_to_the_minute_in_any_locale(time: datetime) -> None:
    time = time.replace(second=0, microsecond=0, tzinfo=UTC)
    before = locale.setlocale(locale.LC_TIME)
    locale.setlocale(locale.LC_TIME, "C")
    try:
        texts = [time.strftime("%Y/%m/%d (%a) %H:%M"), time.strftime("%I:%M %p on %d %B, %Y"), time.isoformat()]
        texts += [time.strftime("%d.%m.%Y, %H:%M:%S"), time.strftime("%Y年%m月%d日 %H:%M")]
    finally:
        locale.setlocale(locale.LC_TIME, before)
    assert [parse(text) for parse, text in zip(PARSERS, texts, strict=True)] == [time] * len(PARSERS)


@pytest.mark.flash
def test_no_format_asks_the_locale_what_a_month_or_a_half_of_the_day_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object) -> None:
        raise AssertionError("the locale was asked")

    monkeypatch.setattr(_strptime, "_strptime", asked)
    monkeypatch.setattr(_strptime, "LocaleTime", asked)
    texts = ["2023/05/08 (Mon) 13:56", "1:56 pm on 8 May, 2023", "2023-05-08T13:56", "08.05.2023, 13:56:00"]
    texts.append("2023年05月08日 周一 13:56")
    assert [parse(text) for parse, text in zip(PARSERS, texts, strict=True)] == [utc(2023, 5, 8, 13, 56)] * 5


@pytest.mark.flash
@pytest.mark.parametrize(
    "value", [1757015046, 1757015046.0, 1757015046000, "1757015046", " 1757015046000 ", "2025-09-04T21:44:06+02:00"]
)
def test_a_number_is_seconds_or_milliseconds_since_1970(value: object) -> None:
    assert parse_epoch_or_iso_time(value) == utc(2025, 9, 4, 19, 44, 6)
    assert parse_epoch_or_iso_time(None) is parse_epoch_or_iso_time(" ") is None
    assert parse_epoch_or_iso_time("20250904") == utc(2025, 9, 4)


@pytest.mark.flash
@pytest.mark.parametrize(
    "value",
    [
        *(True, [], {}, "12345", 1e300, 10**400, -(10**16), float("nan"), float("-inf")),
        *(0, -1, 5.2, 2023, 20230520, 20230520101010, -1757015046, -62135596800, "0000000000", "9999999999"),
        *(1757015046 * 10**6, 1757015046 * 10**9, "1757015046000000", 99_999_999_999, 7_258_118_400_000),
    ],
)
def test_a_number_that_is_no_time_is_refused(value: object) -> None:
    with pytest.raises(TimeError):
        parse_epoch_or_iso_time(value)


@pytest.mark.flash
@pytest.mark.parametrize(
    "text",
    [
        *("1712121212345", "1757318400000", "1757318400", "171212121234", "2023052010"),
        *("2023-05-20-05:00", "2023-05-20+02:00", "20230520-10:00", "2023-05-20x10:00", "2023-05-20,10:00"),
    ],
)
def test_digits_without_a_letter_between_and_a_date_with_a_zone_are_no_time_of_another_year_or_hour(text: str) -> None:
    with pytest.raises(TimeError):
        parse_iso_time(text)


@pytest.mark.flash
@pytest.mark.parametrize("text", ["2023-05-20", "20230520", "2023-W20-6", "2023-05-20T00", "20230520T0000Z"])
def test_every_way_to_write_a_date_of_iso_8601_is_read(text: str) -> None:
    assert parse_iso_time(text) == utc(2023, 5, 20)


@pytest.mark.flash
@pytest.mark.parametrize("parse", PARSERS)
@pytest.mark.parametrize("value", ["x" * 5_000_000, [["x" * 5_000_000]], 10**4000])
def test_an_error_quotes_a_few_characters_only(parse: Parser, value: object) -> None:
    with pytest.raises(TimeError) as caught:
        parse(value)
    assert len(str(caught.value)) < 200

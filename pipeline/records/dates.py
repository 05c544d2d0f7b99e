"""When a text says that something happened: dates as they are written, and English times counted from the session's."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from pipeline.records.record import Precision

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = tuple(name.lower() for name in (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
))  # fmt: skip
_COUNTS = {
    word: number
    for number, words in enumerate(
        ("", "a an one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
    for word in words.split()
} | {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_DAYS_AWAY = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "earlier today": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}
_WEEKDAY = rf"{'|'.join(_WEEKDAYS)}|(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)"
"""Small letters make other words of the short ones (`last sun of the year`)."""
_MONTHS_NAMED = "|".join([*(name for name in _MONTHS if name not in ("may", "march")), "(?-i:May|March)"])
_STEPS = {"last": -1, "past": -1, "this": 0, "next": 1}

_COUNT = rf"(?:\d{{1,3}}|{'|'.join(_COUNTS)})"
_RELATIVE = re.compile(
    # What stands before must make no span of time (`the last year`) and no choice (`two or three days ago`) of it.
    r"(?<!\w)(?:"
    rf"(?P<day>{'|'.join(sorted(_DAYS_AWAY, key=len, reverse=True))})(?<!today(?=['’]s))"
    r"|(?<!or )(?<!to )(?<!and )(?<!half )(?<!than )(?<!over )(?<!-)(?<!\d[.,])"
    rf"(?P<ago>{_COUNT}) (?P<ago_of>day|week|weekend|month|year)s? (?P<way>ago|from now)"
    rf"|in (?P<in>{_COUNT}) (?P<in_of>day|week|month|year)s?"
    r"|the (?P<over>week|weekend|month|year) (?P<beyond>before last|after next)"
    r"|(?<!the )(?P<step>last|next|this(?: past| coming)?) "
    rf"(?P<of>week|month|year|weekend|{_WEEKDAY}|{_MONTHS_NAMED})(?! (?:or|of) )"
    r")(?!\w)",
    re.IGNORECASE,
)
_MAY_TELL = re.compile(r"day|night|week|month|year|morrow|this |last |next ", re.IGNORECASE)
"""What every relative expression holds, looked for first as it is looked for fast."""
_AHEAD = re.compile(
    r"(?:will|'ll|’ll|gonna|going|leaving|moving|flying|coming|returning|starting|starts|due|opens|planning)(?!\w)"
    r"|(?:is|are|'s|’s) (?:only |just )?$",
    re.IGNORECASE,
)
"""What says that `in two weeks` is a time ahead: it may also be how long something took."""
_HEARD = 60
_NAMED = "|".join(
    [*(name.capitalize() for name in _MONTHS), *(name for name in _MONTHS if name not in ("may", "march"))]
)
_SHORT = "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec"
_MONTH = rf"(?:{_NAMED}|(?:{_SHORT})(?!\w)\.?)"
_YEAR = r"(?:1[89]|20)\d\d"
_ABSOLUTE = re.compile(
    rf"(?<![\w/.-])(?:(?P<iso>(?P<y>{_YEAR})[-/](?P<m>\d\d?)[-/](?P<d>\d\d?))(?!\d)"
    rf"|(?P<d2>\d\d?)(?:st|nd|rd|th)?(?: of)? (?P<m2>{_MONTH})(?:,? (?P<y2>{_YEAR}))?(?!\w)"
    rf"|(?P<m3>{_MONTH}) (?:the )?(?P<d3>\d\d?)(?:st|nd|rd|th)?(?!\w)(?!:\d)(?:,? (?P<y3>{_YEAR})(?!\w))?"
    rf"|(?P<m4>{_MONTH}),? (?:of )?(?P<y4>{_YEAR})(?!\w)"
    rf"|(?:[Ii]n|[Ss]ince|[Uu]ntil|[Dd]uring) (?P<y5>{_YEAR})(?![\w-]|[.,]\d))"
)
_ANY_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Told:
    """Characters `start` to `end` of a text tell a time: of a week, month or year, `date` is the first day."""

    start: int
    end: int
    date: date
    precision: Precision


def relative_times(text: str, session_time: datetime) -> list[Told]:
    """The expressions of a text that count from the time of its session (`two days ago`), in order.

    What may be meant in two ways (`a few days ago`, `on Friday`, `the last year`) is left out. A weekend has the
    precision of its week. `last Friday` is the latest before the session's day, `next Friday` that of the next week.
    """
    if _MAY_TELL.search(text) is None:
        return []
    today = session_time.date()
    return list(_dated(_RELATIVE.finditer(text), lambda found: _away(found, today)))


def absolute_times(text: str, session_time: datetime | None) -> list[Told]:
    """The dates that stand in a text, in order. One without a year (`May 8th`) is the nearest to the session's time."""
    if _ANY_DIGIT.search(text) is None:
        return []
    today = session_time.date() if session_time is not None else None
    return list(_dated(_ABSOLUTE.finditer(text), lambda found: _written(found, today)))


def first_time(text: str, session_time: datetime | None) -> Told | None:
    """The first time that a text tells, in either way."""
    relative = relative_times(text, session_time) if session_time is not None else []
    told = [*relative[:1], *absolute_times(text, session_time)[:1]]
    return min(told, key=lambda time: time.start, default=None)


def with_dates(text: str, session_time: datetime | None) -> str:
    """The text with the date behind each relative time: `yesterday (2023-05-07)`, `last week (week of 2023-05-01)`."""
    if session_time is None:
        return text
    parts, last = [], 0
    for told in relative_times(text, session_time):
        if told.precision == "day" and told.date == session_time.date():
            continue  # what happened on the session's day has its date
        end = told.end + 2 if text[told.end : told.end + 2] in ("'s", "’s") else told.end
        parts += [text[last:end], f" ({written(told.date, told.precision)})"]
        last = end
    return "".join([*parts, text[last:]])


def written(day: date, precision: Precision) -> str:
    """`2023-05-07`, `week of 2023-05-01`, `2023-05`, `2023`."""
    if precision == "week":
        return f"week of {day.isoformat()}"
    return day.isoformat()[: {"day": 10, "month": 7, "year": 4}[precision]]


def _dated(
    matches: Iterator[re.Match[str]], date_of: Callable[[re.Match[str]], tuple[date, Precision] | None]
) -> Iterator[Told]:
    for found in matches:
        try:
            dated = date_of(found)
        except (ValueError, OverflowError):  # no such day: the 31st of June, 999 years before year 1
            continue
        if dated is not None:
            yield Told(found.start(), found.end(), *dated)


def _away(found: re.Match[str], today: date) -> tuple[date, Precision] | None:
    if found["day"]:
        return today + timedelta(days=_DAYS_AWAY[found["day"].lower()]), "day"
    if found["ago"]:
        count = _count(found["ago"])
        return _moved(today, -count if found["way"].lower() == "ago" else count, found["ago_of"].lower())
    if found["in"]:
        before = found.string[max(0, found.start() - _HEARD) : found.start()]
        if _AHEAD.search(before) is None:
            return None
        return _moved(today, _count(found["in"]), found["in_of"].lower())
    if found["over"]:
        return _moved(today, -2 if found["beyond"].lower() == "before last" else 2, found["over"].lower())
    return _stepped(today, found["step"].lower(), found["of"].lower())


def _stepped(today: date, step: str, of: str) -> tuple[date, Precision] | None:
    """`last`, `this` or `next` week, Friday, July, and so on. `This past month` is a span of time."""
    by = {"this past": -1, "this coming": 1}.get(step, _STEPS.get(step, 0))
    weekday = next((number for number, name in enumerate(_WEEKDAYS) if of[:3] == name[:3]), None)
    if weekday is not None and of != "month":
        return _weekday(today, weekday, by, coming=step == "this coming"), "day"
    if of in _MONTHS:
        month = _MONTHS.index(of) + 1
        by += (by < 0 and month < today.month) - (by > 0 and month > today.month)
        return date(today.year + by, month, 1), "month"
    return _moved(today, by, of) if step != "this past" or of == "weekend" else None


def _weekday(today: date, weekday: int, by: int, *, coming: bool) -> date:
    ahead = (weekday - today.weekday()) % 7
    if by < 0:
        return today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)
    if coming:
        return today + timedelta(days=ahead or 7)
    return _monday(today) + timedelta(days=weekday + 7) if by else today + timedelta(days=ahead)


def _moved(today: date, by: int, of: str) -> tuple[date, Precision]:
    """The day, or the first day of the week, month or year, that is `by` of them away."""
    if of == "day":
        return today + timedelta(days=by), "day"
    if of in ("week", "weekend"):
        return _monday(today + timedelta(weeks=by)), "week"
    if of == "month":
        years, month = divmod(today.month - 1 + by, 12)
        return date(today.year + years, month + 1, 1), "month"
    return date(today.year + by, 1, 1), "year"


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _count(text: str) -> int:
    return int(text) if text.isdigit() else _COUNTS[text.lower()]


def _written(found: re.Match[str], today: date | None) -> tuple[date, Precision] | None:
    if found["iso"]:
        return date(int(found["y"]), int(found["m"]), int(found["d"])), "day"
    if found["m4"]:
        return date(int(found["y4"]), _month(found["m4"]), 1), "month"
    if found["y5"]:
        return date(int(found["y5"]), 1, 1), "year"
    day, month, year = (
        (found["d2"], found["m2"], found["y2"]) if found["d2"] else (found["d3"], found["m3"], found["y3"])
    )
    if year:
        return date(int(year), _month(month), int(day)), "day"
    return (_nearest(_month(month), int(day), today), "day") if today is not None else None


def _month(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(name.lower().rstrip(".")[:3]))


def _nearest(month: int, day: int, today: date) -> date:
    """That day of this year, or of the one before or after it where that is less than half a year away."""
    day_of = [
        date(year, month, day)
        for year in (today.year - 1, today.year, today.year + 1)
        if 1 <= year <= 9999 and day <= calendar.monthrange(year, month)[1]
    ]
    if not day_of:
        raise ValueError("no such day")
    return min(day_of, key=lambda other: abs(other - today))

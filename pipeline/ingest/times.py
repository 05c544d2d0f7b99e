"""Times of each format, independent of the locale, as UTC. What is absent is None; what cannot be parsed raises."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FULL_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH_NUMBERS = {name: index % 12 + 1 for index, name in enumerate(_MONTHS + _FULL_MONTHS)}

_LONGMEMEVAL = re.compile(
    r"(\d{4})/(\d{1,2})/(\d{1,2})(?:\s*\([^)]*\))?(?:\s+(\d{1,2}):(\d{2})(?::(\d{2}))?)?", re.ASCII
)
_LOCOMO = re.compile(r"(\d{1,2}):(\d{2})\s*([ap])\.?m\.?\s+on\s+(\d{1,2})\s+([a-z]+)\.?,?\s+(\d{4})", re.ASCII)


class TimeError(ValueError):
    """A time is there and cannot be parsed."""


def parse_longmemeval_time(value: object) -> datetime | None:
    """`2023/05/20 (Sat) 02:21`, without a zone, hence UTC; the day of the week is not read. Raises TimeError."""
    text = _present(value)
    if text is None:
        return None
    match = _LONGMEMEVAL.fullmatch(text)
    if match is None:
        raise TimeError(f"time {text!r} is not like 2023/05/20 (Sat) 02:21")
    return _utc(text, *(int(part or 0) for part in match.groups()))


def parse_locomo_time(value: object) -> datetime | None:
    """`1:56 pm on 8 May, 2023`, without a zone, hence UTC. Raises TimeError."""
    text = _present(value)
    if text is None:
        return None
    match = _LOCOMO.fullmatch(text.lower())
    if match is None or match[5] not in _MONTH_NUMBERS or not 1 <= int(match[1]) <= 12:
        raise TimeError(f"time {text!r} is not like 1:56 pm on 8 May, 2023")
    hour = int(match[1]) % 12 + (12 if match[3] == "p" else 0)
    return _utc(text, int(match[6]), _MONTH_NUMBERS[match[5]], int(match[4]), hour, int(match[2]))


def parse_iso_time(value: object) -> datetime | None:
    """ISO 8601; a zone that is given is converted to UTC, without one it is UTC. Raises TimeError."""
    text = _present(value)
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise TimeError(f"time {text!r} is not ISO 8601, such as 2023-05-20T02:21:00Z") from error


def _present(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise TimeError(f"time {value!r} is not text")
    return value.strip() or None


def _utc(text: str, *parts: int) -> datetime:
    year, month, day, hour, minute, second = (*parts, 0)[:6]
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        raise TimeError(f"time {text!r} does not exist: {error}") from error

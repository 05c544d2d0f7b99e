"""Times of each format, independent of the locale, as UTC. What is absent is None; what cannot be parsed raises."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

from pipeline.ingest.quoting import SHOWN, quoted

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FULL_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH_NUMBERS = {name: index % 12 + 1 for index, name in enumerate(_MONTHS + _FULL_MONTHS)}

_LONGMEMEVAL = re.compile(
    r"(\d{4})/(\d{1,2})/(\d{1,2})(?:\s*\([^)]*\))?(?:\s+(\d{1,2}):(\d{2})(?::(\d{2}))?)?", re.ASCII
)
_EPOCH = re.compile(r"\d{10}(?:\.\d*)?|\d{13}", re.ASCII)
_FIRST_MILLISECONDS = 1e11
"""From here on a number counts milliseconds: as seconds it would be a date after the year 5000."""
_FIRST_SECOND, _LAST_SECOND = 1e8, 7_258_118_400
"""1973 and 2200. A number that means another time is none: 0, or -1, for what is not known, a date such as 20230520."""
_ISO = re.compile(r"(?:\d{4}-?\d{2}-?\d{2}|\d{4}-?W\d{2}-?\d)(?:[T ].*)?", re.ASCII)
"""What Python takes for ISO 8601, and no more: it reads 1712121212345 as a date of 1712, and a date with a zone as one
with a time."""
_MEMSIM = re.compile(
    r"(\d{4})年(\d{1,2})月(\d{1,2})日(?:\s*(?:周|星期)[一二三四五六日天])?(?:\s*(\d{1,2}):(\d{2})(?::(\d{2}))?)?",
    re.ASCII,
)
_REALTALK = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}),?\s+(\d{1,2}):(\d{2})(?::(\d{2}))?", re.ASCII)
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
        raise TimeError(f"time {_shown(text)} is not like 2023/05/20 (Sat) 02:21")
    return _utc(text, *(int(part or 0) for part in match.groups()))


def parse_locomo_time(value: object) -> datetime | None:
    """`1:56 pm on 8 May, 2023`, without a zone, hence UTC. Raises TimeError."""
    text = _present(value)
    if text is None:
        return None
    match = _LOCOMO.fullmatch(text.lower())
    if match is None or match[5] not in _MONTH_NUMBERS or not 1 <= int(match[1]) <= 12:
        raise TimeError(f"time {_shown(text)} is not like 1:56 pm on 8 May, 2023")
    hour = int(match[1]) % 12 + (12 if match[3] == "p" else 0)
    return _utc(text, int(match[6]), _MONTH_NUMBERS[match[5]], int(match[4]), hour, int(match[2]))


def parse_realtalk_time(value: object) -> datetime | None:
    """`29.12.2023, 00:51:12`, day first, without a zone, hence UTC. Raises TimeError."""
    text = _present(value)
    if text is None:
        return None
    match = _REALTALK.fullmatch(text)
    if match is None:
        raise TimeError(f"time {_shown(text)} is not like 29.12.2023, 00:51:12")
    day, month, year, *clock = (int(part or 0) for part in match.groups())
    return _utc(text, year, month, day, *clock)


def parse_memsim_time(value: object) -> datetime | None:
    """`2024年04月01日 周一 08:15`, without a zone, hence UTC; the day of the week is not read. Raises TimeError."""
    text = _present(value)
    if text is None:
        return None
    match = _MEMSIM.fullmatch(text)
    if match is None:
        raise TimeError(f"time {_shown(text)} is not like 2024年04月01日 周一 08:15")
    return _utc(text, *(int(part or 0) for part in match.groups()))


def parse_iso_time(value: object, zone: tzinfo = UTC) -> datetime | None:
    """ISO 8601, as UTC; one that names no zone is taken as of `zone`. Raises TimeError."""
    text = _present(value)
    if text is None:
        return None
    unlike = f"time {_shown(text)} is not ISO 8601, such as 2023-05-20T02:21:00Z"
    if not _ISO.fullmatch(text):
        raise TimeError(unlike)
    try:
        time = datetime.fromisoformat(text)
        return (time.replace(tzinfo=zone) if time.tzinfo is None else time).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise TimeError(unlike) from error


def parse_epoch_or_iso_time(value: object) -> datetime | None:
    """Seconds or milliseconds since 1970 as a number (or its 10 or 13 digits), from 1973 to 2200; or ISO 8601.

    Raises TimeError.
    """
    if isinstance(value, str) and _EPOCH.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return parse_iso_time(value)
    if _FIRST_SECOND <= value < _LAST_SECOND:
        return datetime.fromtimestamp(value, UTC)
    if _FIRST_MILLISECONDS <= value < _LAST_SECOND * 1000:
        return datetime.fromtimestamp(value / 1000, UTC)
    raise TimeError("the number is no time of 1973 to 2200 in seconds or milliseconds since 1970")


def _present(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise TimeError(f"time {_shown(value)} is not text")
    return value.strip() or None


def _shown(value: object) -> str:
    """A value as an error may quote it: it may be a document, or nested without end."""
    if isinstance(value, str):
        return repr(quoted(value))
    return str(value)[:SHOWN] if isinstance(value, int | float) else f"of type {type(value).__name__}"


def _utc(text: str, *parts: int) -> datetime:
    year, month, day, hour, minute, second = (*parts, 0)[:6]
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        raise TimeError(f"time {_shown(text)} does not exist: {error}") from error

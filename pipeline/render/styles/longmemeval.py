"""`longmemeval`: what its reader is shown (xiaowu0162/LongMemEval, src/generation, history format `nl`)."""

from __future__ import annotations

from datetime import datetime

from models.interfaces import TokenCounter
from pipeline.render.dates import clock
from pipeline.render.style import Style

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def longmemeval(_: TokenCounter) -> Style:
    """`### Session 1:`, `Session Date: 2023/05/08 (Mon) 13:56` and `Session Content:`, an empty line between turns."""
    return Style("longmemeval", _header, after_header="\n\n\n", after_line="\n\n")


def _header(ordinal: int, time: datetime | None, _: datetime | None) -> str:
    date = "unknown"
    if time is not None:
        weekday = _WEEKDAYS[time.weekday()]
        date = f"{time.year:04d}/{time.month:02d}/{time.day:02d} ({weekday}) {clock(time)}"
    return f"### Session {ordinal}:\nSession Date: {date}\nSession Content:"

"""`dated`: a line with the date and time of each session, and speakers by name."""

from __future__ import annotations

from datetime import datetime

from models.interfaces import TokenCounter
from pipeline.render.dates import clock, day
from pipeline.render.style import Style


def dated(_: TokenCounter) -> Style:
    """`# 8 May 2023, 13:56`, at most 19 o200k tokens; `# undated` without a time. Lines: `Ana: text`."""
    return Style("dated", _header, after_header="\n", after_line="\n")


def _header(_: int, time: datetime | None, __: datetime | None) -> str:
    return "# undated" if time is None else f"# {day(time)}, {clock(time)}"

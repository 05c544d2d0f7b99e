"""Styles: how a session's header and a turn's line read. Everything a slate shows besides turns is here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

Header = Callable[[int, datetime | None], str]
"""From the ordinal of a session in the slate (from 1) and its time to its header, without a line break at the end."""


@dataclass(frozen=True)
class Style:
    """A header for each session, the break after it, and the break after each line (nothing trails the last).

    A break belongs to what stands before it because a tokenizer merges it with that (`.\n` is one token): so the counts
    of the parts add up to the count of the text.
    """

    name: str
    header: Header
    after_header: str
    after_line: str

    def line(self, who: str, text: str) -> str:
        """A turn's line: its speaker (or role), then its text, verbatim."""
        return f"{who}: {text}"


def _dated(_: int, time: datetime | None) -> str:
    # Names of months are spelled here, not by strftime: a locale must not change a slate.
    if time is None:
        return "# undated"
    return f"# {time.day} {_MONTHS[time.month - 1]} {time.year}, {time.hour:02d}:{time.minute:02d}"


def _longmemeval(ordinal: int, time: datetime | None) -> str:
    date = "unknown"
    if time is not None:
        date = (
            f"{time.year:04d}/{time.month:02d}/{time.day:02d} ({_WEEKDAYS[time.weekday()]}) "
            f"{time.hour:02d}:{time.minute:02d}"
        )
    return f"### Session {ordinal}:\nSession Date: {date}\nSession Content:"


STYLES = {
    "dated": Style("dated", _dated, after_header="\n", after_line="\n"),
    "longmemeval": Style("longmemeval", _longmemeval, after_header="\n\n\n", after_line="\n\n"),
}
"""`dated`: one header line of at most 19 o200k tokens. `longmemeval`: the header and turn format of that benchmark's
reader (xiaowu0162/LongMemEval, src/generation, history format `nl`)."""

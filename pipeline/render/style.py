"""What a style is: how a session's header, a turn's line and its speaker read in a slate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

Header = Callable[[int, datetime | None, datetime | None], str]
"""From the ordinal of a session in the slate (from 1), its time, and the time of the session shown before it (None:
there is none, or it has none) to its header, without a line break at the end."""


@dataclass(frozen=True)
class Names:
    """What one slate calls its speakers: `called` by name; and the legend that says so, with the break after it, or
    the empty text where there is nothing to say. A legend heads the text."""

    called: Mapping[str, str]
    legend: str = ""


Naming = Callable[[Mapping[str, int]], Names]
"""From the number of lines of each speaker in a slate to what it calls them: one with a single line by name."""


def in_full(lines: Mapping[str, int]) -> Names:
    """Every speaker by name, as it is stored."""
    return Names({name: name for name in lines})


@dataclass(frozen=True)
class Style:
    """A header for each session, the break after it, the break after each line (nothing trails the last), what lines
    begin with, how speakers are called, and whether names or headers may be shorter in company than alone (`sparing`;
    longer they are never).

    A break belongs to what stands before it because a tokenizer merges it with that (`.\\n` is one token): so the
    counts of the parts add up to the count of the text.
    """

    name: str
    header: Header
    after_header: str
    after_line: str
    margin: str = ""
    names: Naming = in_full
    sparing: bool = False

    def alone(self, name: str) -> str:
        """What a slate calls a speaker of a single line."""
        return self.names({name: 1}).called[name]

    def opening(self, called: str) -> str:
        """How a turn's line begins: who speaks. A blank and the text follow, and no token reaches across."""
        return f"{self.margin}{called}:"

    def line(self, called: str, text: str) -> str:
        """A turn's line: its speaker (or role), then its text, verbatim."""
        return f"{self.opening(called)} {text}"

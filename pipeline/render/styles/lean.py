"""`lean`: the fewest tokens around the turns that leave no doubt who spoke, and on which day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache

from models.interfaces import TokenCounter
from pipeline.render.dates import clock, day
from pipeline.render.initials import initials
from pipeline.render.style import Names, Naming, Style

_MARGIN = " "
"""To o200k most names are one token after a blank, and two at the start of a line (`Car|oline`)."""
_NAMELESS = "?"


def lean(counter: TokenCounter) -> Style:
    """`# 8 May 2023`, and `## 13:56` for each later session of that day, which is shorter; `# undated` without a time.

    Lines are set in by a blank: ` Ana: text`. Names that take several tokens even so give way to initials where that
    saves more than the legend costs, which then is the first line: `A = Ana Maria, O = Oluwaseun`. Nothing else can
    stand there: all other text begins with a header. The saving is counted in `counter`.
    """
    return Style(
        "lean", _header, after_header="\n", after_line="\n", margin=_MARGIN, names=_names(counter), sparing=True
    )


def _header(_: int, time: datetime | None, before: datetime | None) -> str:
    if time is None:
        return "# undated"
    if before is not None and before.date() == time.date():
        return f"## {clock(time)}"
    return f"# {day(time)}"


def _names(counter: TokenCounter) -> Naming:
    """Names of one line each, and initials where they save tokens."""
    tokens = lru_cache(maxsize=4096)(counter.count)
    initials_of = lru_cache(maxsize=256)(initials)

    def names(lines: Mapping[str, int]) -> Names:
        written = {name: " ".join(name.split()) or _NAMELESS for name in lines}
        said: Counter[str] = Counter()
        for name, full in written.items():
            said[full] += lines[name]
        saved, entries = 0, {}
        for full, short in initials_of(frozenset(said)).items():
            of_lines = said[full] * (tokens(f"{_MARGIN}{full}:") - tokens(f"{_MARGIN}{short}:"))
            if of_lines > tokens(f", {short} = {full}"):
                saved += of_lines
                entries[full] = short
        legend = ", ".join(f"{short} = {full}" for full, short in sorted(entries.items())) + "\n"
        if saved <= tokens(legend):
            return Names(written)
        return Names({name: entries.get(full, full) for name, full in written.items()}, legend)

    return names

"""Unit recovery with a part left out (FlexA-Mem, arXiv 2610.33274, section 6 and table 5)."""

from __future__ import annotations

from pipeline.memory.call import Call
from pipeline.memory.draft import Draft
from pipeline.memory.recovery import raw_or_nothing, unit_recovery
from pipeline.memory.relevance import of_choice


def no_timeline(call: Call) -> Draft:
    """Recovered units alone."""
    return unit_recovery(call, of_choice(call), with_timeline=False)


def no_links(call: Call) -> Draft:
    """Seeds reach those beside them in time, and none by a link."""
    return unit_recovery(call, of_choice(call), links=False)


def no_excerpts(call: Call) -> Draft:
    """What does not fit whole keeps its record."""
    return unit_recovery(call, of_choice(call), resolve=raw_or_nothing)

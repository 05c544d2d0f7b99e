"""Truncation: the newest units, whatever is asked (FlexA-Mem, arXiv 2610.33274, appendix C)."""

from __future__ import annotations

from pipeline.memory.call import Call
from pipeline.memory.designs.filling import something
from pipeline.memory.draft import Draft, Recovered


def truncation(call: Call) -> Draft:
    """The longest run of newest units that fits."""
    room = call.allowance
    newest_first = call.past[::-1]
    recovered = []
    for rank, unit in enumerate(newest_first, start=1):
        room -= call.raw_tokens(unit)
        if room < 0:
            break
        recovered.append(Recovered(unit, rank))
    return something(call, Draft(recovered=tuple(recovered)), newest_first)

"""The timeline alone, within all of the allowance (FlexA-Mem, arXiv 2610.33274, table 1)."""

from __future__ import annotations

from pipeline.memory.call import Call
from pipeline.memory.designs.filling import something
from pipeline.memory.draft import Draft
from pipeline.memory.recovery import timeline


def timeline_only(call: Call) -> Draft:
    """Records, merged where they do not fit; where there is none yet, what fits of the newest unit."""
    return something(call, Draft(timeline(call, call.allowance)), call.past[::-1])

"""Units as prompts tell them: who said what, and when, whatever the style of slates and the day of the request."""

from __future__ import annotations

from pipeline.memory.call import Call
from pipeline.records.lengths import clipped, one_line
from pipeline.records.record import RECORD_WORDS
from pipeline.render.dates import day

_LONGEST_LINE = 400
"""Characters of a line from which on it is cut within."""


def when(call: Call, unit: int) -> str:
    """The day of a unit; empty where its session has no time."""
    time = call.view.notes.turns.session_time[int(call.view.first[unit])]
    return "" if time is None else day(time)


def headed(call: Call, unit: int) -> str:
    """`8 May 2023: `, where there is a day."""
    told = when(call, unit)
    return f"{told}: " if told else ""


def unit_lines(call: Call, unit: int) -> list[str]:
    """What was said in a unit, as far as it is seen, in lines; long ones are cut in parts."""
    turns = call.view.notes.turns
    said = [
        f"{turns.said_by[span.place]}: {turns.text[span.place][span.start : span.end].strip()}"
        for span in call.writer.unit_spans(unit)
    ]
    whole = [line for text in said for line in text.split("\n")]
    return [
        line[start : start + _LONGEST_LINE] for line in whole for start in range(0, max(len(line), 1), _LONGEST_LINE)
    ]


def gist(call: Call, unit: int) -> str:
    """The record of a unit; of one that has none, its beginning."""
    if call.view.has_record[unit]:
        return call.view.notes.units.record[int(call.view.row[unit])]
    return clipped(one_line(" ".join(unit_lines(call, unit))), RECORD_WORDS)

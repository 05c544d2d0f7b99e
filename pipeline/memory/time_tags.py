"""What `last week` meant: the date that a unit's record gives to a turn, shown behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

from pipeline.records.dates import relative_times
from pipeline.render.dates import day, month

Dated = tuple[date, str]
"""The first day, and whether it stands for a day, week, month or year."""


def dates_of_turns(facts: Iterable[Mapping[str, Any]]) -> dict[int, set[Dated]]:
    """By turn_index, the dates of the facts of a record that cite the turn."""
    found: dict[int, set[Dated]] = {}
    for fact in facts:
        if fact["date"] is not None and fact["precision"] is not None:
            for turn in fact["turns"]:
                found.setdefault(turn, set()).add((fact["date"], fact["precision"]))
    return found


def time_tag(text: str, session_time: datetime | None, dates: set[Dated], latest: date | None) -> str:
    """` [last week = week of 1 May 2023]` for a part of a turn; empty where nothing is to be said.

    A relative time is tagged with the date that the record gives to it: one of `dates`, which are those of the turn. A
    record may resolve a lone relative time otherwise than by rule: then its lone date is believed. None is shown that
    is later than `latest`.
    """
    if session_time is None or not dates:
        return ""
    told = relative_times(text, session_time)
    said = []
    for one in told:
        resolved: Dated = (one.date, one.precision)
        if resolved not in dates:
            if len(told) > 1 or len(dates) > 1:
                continue
            resolved = next(iter(dates))
        if latest is None or resolved[0] <= latest:
            said.append(f"{text[one.start : one.end]} = {_shown(*resolved)}")
    return f" [{'; '.join(dict.fromkeys(said))}]" if said else ""


def _shown(first: date, precision: str) -> str:
    if precision == "year":
        return str(first.year)
    if precision == "month":
        return month(first)
    return f"week of {day(first)}" if precision == "week" else day(first)

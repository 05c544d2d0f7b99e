"""What a language model's answer is taken for: a record within its limits, or a complaint."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import MAXYEAR, date, datetime
from typing import Any, NamedTuple, cast

from models.interfaces import Answer
from pipeline.llm.json_text import read_json
from pipeline.llm.loops import loops
from pipeline.llm.rounds import Complaint
from pipeline.records.asking import FACT_KINDS
from pipeline.records.record import RECORD_WORDS, Fact, FactKind, Precision, UnitText

_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_EARLIEST = 1000
_AHEAD = 200
"""Years after the conversation that a date may still lie: what is further ahead is a slip."""


class Told(NamedTuple):
    """What an answer says. `dropped` counts cited lines that the unit does not have; `cut`: the answer broke off."""

    text: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    description: str
    facts: tuple[Fact, ...]
    dropped: int
    cut: bool


def told(answer: Answer, unit: UnitText) -> Told | Complaint:
    """The record in an answer about a unit. Words beyond the limit go, citations of other lines go and are counted, a
    fact that is left without any goes too, and a date that is none is left out."""
    read = _read(answer)
    if isinstance(read, Complaint):
        return read
    value, cut = read
    kept, dropped = [], 0
    for item in value.get("facts") or ():
        lines = [line for line in item.get("lines") or () if isinstance(line, int)] if isinstance(item, dict) else []
        cited = sorted({line for line in lines if 1 <= line <= len(unit.turns)})
        dropped += len(lines) - sum(1 <= line <= len(unit.turns) for line in lines)
        if cited and (fact := _fact(item, cited, unit)) is not None:
            kept.append(fact)
    facts = tuple(dict.fromkeys(kept))
    return Told(
        # A model that put all it had to say into the facts has told something.
        _line(value["summary"], RECORD_WORDS) or _line(" ".join(fact.text for fact in facts), RECORD_WORDS),
        _words(value.get("keywords"), 8),
        tuple(tag.lower() for tag in _words(value.get("tags"), 4)),
        _line(value.get("description"), 20),
        facts,
        dropped,
        cut,
    )


def merged_text(answer: Answer, most: int) -> str | Complaint:
    """The text in an answer about records, of at most so many words."""
    read = _read(answer)
    if isinstance(read, Complaint):
        return read
    return _line(read[0].get("summary"), most) or Complaint("its summary is empty")


def _read(answer: Answer) -> tuple[Mapping[str, Any], bool] | Complaint:
    reading = read_json(answer.text)
    value = reading.value
    if not isinstance(value, dict) or not isinstance(value.get("summary"), str):
        cut = f" and was cut at {answer.completion_tokens} tokens" if answer.finish == "length" else ""
        return Complaint(f"its answer holds no record{cut}")
    if loops(value["summary"]):
        return Complaint("its summary repeats itself")
    return cast("Mapping[str, Any]", value), reading.how == "salvaged"


def _fact(item: Mapping[str, Any], lines: Sequence[int], unit: UnitText) -> Fact | None:
    kind, text = item.get("kind"), _line(item.get("text"), 40)
    if kind not in FACT_KINDS or not text or loops(text):
        return None
    day, precision = _date(item.get("date"), unit.session_time)
    turns = tuple(dict.fromkeys(unit.turns[line - 1].turn_index for line in lines))
    return Fact(cast(FactKind, kind), text, turns, day, precision)


def _date(said: object, time: datetime | None) -> tuple[date | None, Precision | None]:
    """The first day of what a date names; nothing where it is none, or lies too far off to be meant."""
    found = _DATE.fullmatch(said.strip()) if isinstance(said, str) else None
    if found is None:
        return None, None
    year, month, day = (int(part) if part else None for part in found.groups())
    latest = time.year + _AHEAD if time is not None else MAXYEAR
    if year is None or not _EARLIEST <= year <= latest:
        return None, None
    try:
        return date(year, month or 1, day or 1), "day" if day else "month" if month else "year"
    except ValueError:
        return None, None


def _words(given: object, most: int) -> tuple[str, ...]:
    """Distinct short texts of a list, as they came."""
    if not isinstance(given, list):
        return ()
    return tuple(dict.fromkeys(filter(None, (_line(item, 6) for item in given))))[:most]


def _line(given: object, most: int) -> str:
    """A text as one line of at most so many words; empty where it is none."""
    return " ".join(given.split()[:most]) if isinstance(given, str) else ""

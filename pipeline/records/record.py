"""What a record is, what it is written of, and what every writer of records offers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol

RECORD_WORDS = 80
"""The most words of a record's text."""
MERGED_WORDS = 120
"""The most words that a merged record is asked to have; it is cut at MERGED_CUT."""
MERGED_CUT = 150

NOTHING = "(nothing told)"
"""The text of a record of a unit that holds nothing to tell."""

FactKind = Literal["fact", "event", "preference", "plan", "update"]
Precision = Literal["day", "week", "month", "year"]
Status = Literal["ok", "nothing", "failed"]
"""`nothing`: the unit holds nothing to tell. `failed`: the writer could not, and another one wrote in its place."""


@dataclass(frozen=True)
class UnitTurn:
    """A turn of a unit, or the part of a long turn that the unit holds; of a step, below the first line of the action
    whose outcome goes on there."""

    turn_index: int
    role: str
    speaker: str | None
    text: str


@dataclass(frozen=True)
class UnitText:
    """A unit as a writer reads it: turns of one session, in order. `agent`: they are steps of a task."""

    agent: bool
    session_time: datetime | None
    turns: tuple[UnitTurn, ...]


@dataclass(frozen=True)
class Fact:
    """One thing that a unit tells, and the turns of the unit (`turn_index`) that say so.

    `date` is when it happened or will happen, where the text says so, alone or counted from the session's time; of a
    week, month or year (`precision`) it is the first day.
    """

    kind: FactKind
    text: str
    turns: tuple[int, ...]
    date: date | None = None
    precision: Precision | None = None


@dataclass(frozen=True)
class Record:
    """What is told of a unit: `text` of at most RECORD_WORDS words, and what it may be found by.

    `reason` says why another writer had to write it, or what the writer did not read; empty where there is nothing to
    say. `dropped` counts cited lines that the unit does not have. What a model was asked and answered for it is in
    `attempts` and the two counts of tokens: none where no model was asked.
    """

    writer: str
    status: Status
    text: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    description: str
    facts: tuple[Fact, ...]
    reason: str = ""
    dropped: int = 0
    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True)
class MergedRecord:
    """What stands for several records: a text of at most MERGED_CUT words. The rest as in Record."""

    writer: str
    status: Status
    text: str
    reason: str = ""
    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class RecordWriter(Protocol):
    """Writes records. What it writes of a unit depends on that unit alone."""

    name: str
    identity: str
    """Name, version and, where there is one, the weights: all that decides what is written."""

    def write(self, units: Sequence[UnitText]) -> list[Record]:
        """A record of each unit, in order."""
        ...

    def merge(self, groups: Sequence[Sequence[str]]) -> list[MergedRecord]:
        """For each group of records' texts, in order of time, one text that stands for all of them."""
        ...

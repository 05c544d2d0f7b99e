"""What the formats of agents' logs share: how files hold runs, and what a run becomes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.ingest.asking import asked_by_step
from pipeline.ingest.codes import Code
from pipeline.ingest.messages import MessageError, as_object
from pipeline.ingest.options import Options
from pipeline.ingest.records import Record, look_ahead
from pipeline.ingest.source import Document, Refused, SourceHistory, SourceSession
from pipeline.ingest.steps import Run
from pipeline.ingest.times import TimeError


def runs_of(document: Document, holds_run: Callable[[dict[str, Any]], bool]) -> Iterator[Record]:
    """The records of a document, if its first object holds a run; else one record: the list of all that it holds.

    Raises IngestError for an array that is broken.
    """
    first, every = look_ahead(document, dict)
    if first is not None and holds_run(first):
        yield from every
    else:
        held = list(every)
        if held:
            lost = itertools.chain.from_iterable(record.lost for record in held)
            yield Record(0, 0, "item 0", [record.value for record in held], tuple(lost))


@dataclass(frozen=True)
class Log:
    """How a format logs a run: as a list that stands under `key` or alone, of what it calls an `entry`.

    `is_entry` says of any value whether it is one; `time_of` an entry's time, or raises TimeError; `read` tells the run
    what an entry at a position says, or raises MessageError. `flat` makes entries of what the list holds.
    """

    key: str
    entry: str
    is_entry: Callable[[Any], bool]
    time_of: Callable[[dict[str, Any]], datetime | None]
    read: Callable[[Run, int, dict[str, Any]], None]
    flat: Callable[[list[Any]], list[Any]] = list


def read_run(record: Record, history_id: str, log: Log, options: Options) -> SourceHistory | Refused:
    """The run that a record holds. The first time in it is that of the session; one that is bad costs the run."""
    value, place = record.value, record.place
    if isinstance(value, Refused):
        return value
    entries = value.get(log.key) if isinstance(value, dict) else value
    if not isinstance(entries, list):
        return Refused(Code.WRONG_SHAPE, place, f"it has no list under the key {log.key}", 1, history_id)
    entries = log.flat(entries)
    if entries and not any(map(log.is_entry, entries)):
        return Refused(Code.WRONG_SHAPE, place, f"nothing in it is one {log.entry} of a run", len(entries), history_id)
    history = SourceHistory(history_id, record.position)
    times = (log.time_of(entry) for entry in entries if isinstance(entry, dict))
    try:
        time = next((time for time in times if time is not None), None)
    except TimeError as error:
        history.refuse(Code.BAD_TIME, place, f"timestamp: {error}", max(1, len(entries)))
        return history
    run = Run()
    for position, entry in enumerate(entries):
        try:
            if isinstance(entry, Refused):
                history.refused.append(entry)
            else:
                log.read(run, position, as_object(entry))
        except MessageError as error:
            history.refuse(Code.BAD_TURN, f"{place}, {log.entry} {position}", str(error))
    return add_session(history, run, time, options, place)


def add_session(
    history: SourceHistory, run: Run, time: datetime | None, options: Options, place: str, task: str | None = None
) -> SourceHistory:
    """The history with the run as its one session, and with the requests of its steps.

    The task is what the user said first, unless it is given.
    """
    session = SourceSession(0, None, time, run.turns())
    if task is None:
        task = next((turn.text for turn in session.turns if turn.role == "user"), "")
    history.sessions.append(session)
    history.requests += asked_by_step(session, task, options.requests, history.history_id, place, run.under_way())
    return history

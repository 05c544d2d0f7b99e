"""What the formats of agents' logs share: how files hold runs, and what a run becomes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from pipeline.ingest.asking import asked_by_step
from pipeline.ingest.options import Options
from pipeline.ingest.records import Record, records
from pipeline.ingest.source import Document, SourceHistory, SourceSession
from pipeline.ingest.steps import Run


def runs_of(document: Document, holds_run: Callable[[dict[str, Any]], bool]) -> Iterator[Record]:
    """The records of a document, if its first object holds a run; else one record: the list of all that it holds.

    Raises IngestError for an array that is broken.
    """
    given = records(document)
    start: list[Record] = []
    for record in given:
        start.append(record)
        if isinstance(record.value, dict):
            break
    every = itertools.chain(start, given)
    if start and isinstance(start[-1].value, dict) and holds_run(start[-1].value):
        yield from every
    elif start:
        yield Record(0, 0, "item 0", [record.value for record in every])


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
    history.requests += asked_by_step(session, task, options.requests, history.history_id, place)
    return history

"""REALTALK: each file is one chat of two people over weeks, with questions about it.

A history is one chat; its history_id is the name of the file without its suffix. A dialogue id does not name the
session its turn is in; that is where the turn stands. Of an image its caption is kept with the turn's text.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pipeline.ingest.dialogue import SESSION, add_requests, add_sessions
from pipeline.ingest.errors import IngestError
from pipeline.ingest.json_values import read_whole
from pipeline.ingest.options import Options
from pipeline.ingest.records import Record, wanted
from pipeline.ingest.sample import Sample, json_object
from pipeline.ingest.source import Document, Refused, SourceHistory
from pipeline.ingest.times import parse_realtalk_time


def read(document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    """The history of a REALTALK file. Raises IngestError when it is no JSON object, or one without sessions."""
    chat, lost = json_object(read_whole(document.stream))
    if not _holds_sessions(chat):
        raise IngestError("it is no REALTALK chat: it holds no session_N")
    if not wanted(document, Record(0, 0, "the document", chat, lost), [document.stem], options):
        return
    history = SourceHistory(document.stem, 0)
    ids = add_sessions(
        history,
        chat,
        prefix="",
        # Of a few turns the text was never cleaned.
        text_keys=("clean_text", "text"),
        time_of=lambda name, session: _time(chat.get(f"{name}_date_time"), session),
    )
    add_requests(history, chat.get("qa") or [], ids, prefix="")
    yield history


def recognises(sample: Sample) -> bool:
    """One object with the names of the speakers and sessions of turns."""
    return sample.shape == "object" and sample.all_have("name") and _holds_sessions(sample.first)


def _holds_sessions(chat: dict[str, Any]) -> bool:
    return any(SESSION.fullmatch(key) and isinstance(session, list) for key, session in chat.items())


def _time(given: Any, session: list[Any]) -> datetime | None:
    """The session's own time, else that of its first turn. Raises TimeError."""
    first = session[0] if session and isinstance(session[0], dict) else {}
    return parse_realtalk_time(given) or parse_realtalk_time(first.get("date_time"))

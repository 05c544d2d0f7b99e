"""slatemill's own format: JSONL or an array (a history a line or item), or Parquet (one a row).

native.schema.json says what is in it. What the schema refuses is lost as narrowly as can be: a turn, a session, a
request, or the line.
"""

from __future__ import annotations

import difflib
import io
import json
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache
from importlib import resources
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from pipeline.ingest.codes import Code
from pipeline.ingest.errors import IngestError
from pipeline.ingest.json_values import read_whole
from pipeline.ingest.options import Options
from pipeline.ingest.quoting import shown
from pipeline.ingest.records import Record, records, wanted
from pipeline.ingest.sample import PARQUET_MAGIC, Sample
from pipeline.ingest.source import (
    Document,
    Refused,
    SourceHistory,
    SourceRequest,
    SourceSession,
    SourceTurn,
    TurnReference,
)
from pipeline.ingest.times import TimeError, parse_iso_time

_ROWS_AT_A_TIME = 64
_REASON_CHARACTERS = 300
_KEYS = 5

Errors = dict[tuple[str | int, ...], str]


def read(document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    """Histories of a native file, one at a time. Raises IngestError for broken Parquet or a broken array."""
    stream = document.stream
    for record in _rows(stream) if stream.peek(4).startswith(PARQUET_MAGIC) else records(document):
        value = record.value
        history_id = value.get("history_id") if isinstance(value, dict) else None
        if wanted(document, record, [history_id] if isinstance(history_id, str) else [], options):
            yield value if isinstance(value, Refused) else _history(record.position, record.place, value)


def recognises(sample: Sample) -> bool:
    """Parquet, or objects with a history_id and sessions or requests."""
    if sample.shape == "parquet":
        return True
    return sample.all_have("history_id") and all(
        "sessions" in record or "requests" in record for record in sample.records
    )


def _rows(stream: io.BufferedReader) -> Iterator[Record]:
    """Each row of a Parquet file as its JSON line would be. Raises IngestError."""
    number = 0
    whole = stream if stream.seekable() else io.BytesIO(read_whole(stream))
    try:
        file = pq.ParquetFile(whole)
        _require_once(file.schema_arrow.names)
        for batch in file.iter_batches(batch_size=_ROWS_AT_A_TIME):
            for row in range(batch.num_rows):
                place = f"row {number}"
                yield Record(number, number, place, _row(batch.slice(row, 1), place))
                number += 1
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk, and not what lies on it
        reason = str(error)[:_REASON_CHARACTERS]
        raise IngestError(f"the Parquet file cannot be read at row {number}: {reason}") from error


def _require_once(columns: list[str]) -> None:
    doubled = next((name for name in columns if columns.count(name) > 1), None)
    if doubled is not None:
        raise IngestError(f"the Parquet file holds the column {shown(doubled)!r} more than once")


def _row(row: pa.RecordBatch, place: str) -> Any:
    """A row as its JSON line would be. One that holds what Python cannot, such as a time of the year 30000, is lost."""
    try:
        return _with_iso_times(row.to_pylist()[0])
    except (ValueError, OverflowError) as error:
        return Refused(Code.WRONG_SHAPE, place, f"the row cannot be read: {type(error).__name__}")


def _with_iso_times(row: dict[str, Any]) -> dict[str, Any]:
    """Timestamps and dates of a Parquet row as text."""
    for key, of in (("sessions", "time"), ("requests", "asked_at")):
        for entry in row.get(key) or []:
            if isinstance(entry, dict) and isinstance(entry.get(of), date):
                entry[of] = entry[of].isoformat()
    return row


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads((resources.files(__package__) / "native.schema.json").read_text("utf-8")))


def _history(position: int, place: str, value: Any) -> SourceHistory | Refused:
    errors: Errors = {}
    for error in _validator().iter_errors(value):
        errors.setdefault(_lost(error), _reason(error))
    if () in errors:
        history_id = value.get("history_id") if isinstance(value, dict) else None
        known = history_id if isinstance(history_id, str) else None
        return Refused(Code.WRONG_SHAPE, place, errors[()], _weight(value), known)
    history = SourceHistory(value["history_id"], position)
    for index, session in enumerate(value.get("sessions") or []):
        _session(history, index, session, errors, f"{place}, session {index}")
    for index, request in enumerate(value.get("requests") or []):
        _request(history, index, request, errors.get(("requests", index)), f"{place}, request {index}")
    return history


def _lost(error: ValidationError) -> tuple[str | int, ...]:
    """The least that is lost by an error: the path of a turn, a session or a request; empty for the whole line."""
    path = tuple(error.absolute_path)
    if path[:1] == ("sessions",) and path[2:3] == ("turns",) and len(path) > 3:
        return path[:4]
    return path[:2] if path[:1] in (("sessions",), ("requests",)) and len(path) > 1 else ()


def _reason(error: ValidationError) -> str:
    """What the schema says against it, without the value itself: that may be a whole document, or a secret."""
    key = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "required":
        said = error.message
    elif error.validator == "additionalProperties":
        known = list(cast(Any, error.schema)["properties"])
        unknown = [name for name in cast(Any, error.instance) if name not in known][:_KEYS]
        said = f"{', '.join(repr(shown(name)) for name in unknown)} was unexpected{_meant(unknown, known)}"
    else:
        said = f"it is not what the schema asks: {error.validator} {json.dumps(error.validator_value)}"
    reason = f"{key}: {said}" if key else said
    return reason if len(reason) <= _REASON_CHARACTERS else f"{reason[:_REASON_CHARACTERS]}..."


def _meant(unknown: Sequence[str], known: Sequence[str]) -> str:
    """The known keys that are most like those that are not."""
    near = [found for key in unknown for found in difflib.get_close_matches(shown(key), known, n=1)]
    return f"; did you mean {', '.join(near)}?" if near else ""


def _session(history: SourceHistory, index: int, session: Any, errors: Errors, place: str) -> None:
    if ("sessions", index) in errors:
        history.refuse(Code.BAD_SESSION, place, errors["sessions", index], max(1, _length(session, "turns")))
        return
    try:
        time = parse_iso_time(session.get("time"))
    except TimeError as error:
        history.refuse(Code.BAD_TIME, place, str(error), max(1, len(session["turns"])))
        return
    turns = []
    for position, turn in enumerate(session["turns"]):
        reason = errors.get(("sessions", index, "turns", position))
        if reason is not None:
            history.refuse(Code.BAD_TURN, f"{place}, turn {position}", reason)
            continue
        turns.append(
            SourceTurn(position, turn["role"], turn["text"] or "", turn.get("speaker") or None, turn.get("turn_id"))
        )
    history.sessions.append(SourceSession(index, session.get("session_id"), time, turns))


def _request(history: SourceHistory, index: int, request: Any, reason: str | None, place: str) -> None:
    if reason is not None:
        request_id = request.get("request_id") if isinstance(request, dict) else None
        history.refuse(Code.BAD_REQUEST, place, reason, 1, request_id if isinstance(request_id, str) else None)
        return
    try:
        asked_at = parse_iso_time(request.get("asked_at"))
    except TimeError as error:
        history.refuse(Code.BAD_TIME, place, f"asked_at: {error}", 1, request["request_id"])
        return
    seen = request.get("seen")
    history.requests.append(
        SourceRequest(
            index,
            request["request_id"],
            request["text"],
            mode=request.get("mode") or "reader",
            asked_at=asked_at,
            category=_text_or_none(request.get("category")),
            answer=_text_or_none(request.get("answer")),
            adversarial=bool(request.get("adversarial")),
            seen=None if seen is None else _reference(seen, f"{place}, seen"),
            evidence=tuple(
                _reference(cited, f"{place}, evidence {number}")
                for number, cited in enumerate(request.get("evidence") or [])
            ),
        )
    )


def _reference(value: dict[str, Any], place: str) -> TurnReference:
    session, turn = (part if isinstance(part, str) else int(part) for part in (value["session"], value["turn"]))
    return TurnReference(session, turn, f"{place} ({_shown(session)}, {_shown(turn)})")


def _shown(part: str | int) -> str:
    """A name or position as a place may quote it."""
    return repr(shown(part)) if isinstance(part, str) else shown(str(part))


def _text_or_none(value: Any) -> str | None:
    return None if value is None else str(value)


def _weight(value: Any) -> int:
    """Rows that are lost with a line: its turns and requests."""
    sessions = value.get("sessions") if isinstance(value, dict) else None
    turns = sum(_length(session, "turns") for session in sessions) if isinstance(sessions, list) else 0
    return max(1, turns + _length(value, "requests"))


def _length(value: Any, key: str) -> int:
    entries = value.get(key) if isinstance(value, dict) else None
    return len(entries) if isinstance(entries, list) else 0

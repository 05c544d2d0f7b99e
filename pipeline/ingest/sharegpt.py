"""ShareGPT: objects with `conversations`, a list of {from, value}, as lines, as an array or alone.

Each object is a history of one session, unless a key says whose it is. Other names of the same things are read too:
`messages` for conversations, role and content for from and value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pipeline.ingest.codes import Code
from pipeline.ingest.keyed import Keys, MissingKeyError, add_session
from pipeline.ingest.messages import as_object, call_text, content_text, role_of, turns_of
from pipeline.ingest.options import Options
from pipeline.ingest.records import Record, records, wanted
from pipeline.ingest.sample import Sample
from pipeline.ingest.source import Document, Refused, SourceHistory, SourceTurn

_ROLES = {
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "bing", "bard", "model", "function_call"), "assistant"),
    **dict.fromkeys(("tool", "observation", "function", "function_response"), "tool"),
}


def read(document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    """Histories of a ShareGPT file, one at a time. Raises IngestError for a broken array."""
    keys = Keys.of(options, ("id",), ("id",), ())
    for record in records(document):
        otherwise = f"{document.stem}:{record.number}"
        try:
            names = [keys.history_id(record.value) or otherwise]
        except MissingKeyError:
            names = []
        if wanted(document, record, names, options):
            yield _history(record, otherwise, options, keys)
    keys.require_found()


def recognises(sample: Sample) -> bool:
    """Objects with a list of conversations, or of messages that say who each is from."""
    return bool(sample.records) and all(_recognises(record) for record in sample.records)


def _recognises(record: Any) -> bool:
    if not isinstance(record, dict):
        return False
    said, messages = record.get("conversations"), record.get("messages")
    if isinstance(said, list):
        return all(isinstance(turn, dict) and ("from" in turn or "role" in turn) for turn in said[:3])
    return isinstance(messages, list) and bool(messages) and isinstance(messages[0], dict) and "from" in messages[0]


def _history(record: Record, otherwise: str, options: Options, keys: Keys) -> SourceHistory | Refused:
    value, place = record.value, record.place
    if isinstance(value, Refused):
        return value
    said = value.get("conversations", value.get("messages")) if isinstance(value, dict) else None
    if not isinstance(said, list):
        return Refused(Code.WRONG_SHAPE, place, "it has no list under the key conversations")
    try:
        history_id = keys.history_id(value) or otherwise
    except MissingKeyError as error:
        return Refused(Code.WRONG_SHAPE, place, str(error), max(1, len(said)))
    history = SourceHistory(history_id, record.position)
    turns = turns_of(history, said, place, _turn)
    add_session(history, value, turns, place, keys, otherwise, options.requests)
    return history


def _turn(position: int, turn: Any) -> SourceTurn:
    turn = as_object(turn)
    said_by = role_of(turn.get("from", turn.get("role"))).lower()
    text = content_text(turn.get("value", turn.get("content")))
    return SourceTurn(position, _ROLES.get(said_by, said_by), _call(text) if said_by == "function_call" else text)


def _call(text: str) -> str:
    """The call or calls that a text holds as JSON, written as elsewhere; the text itself where it holds none."""
    try:
        value = json.loads(text)
        return "\n".join(call_text(call) for call in (value if isinstance(value, list) else [value]))
    except (ValueError, RecursionError):  # MessageError is a ValueError
        return text

"""Messages as chat APIs take them: objects with `messages`, as lines, as an array or alone; or a bare list of messages.

Each object is a session of a history. Which history, which session and when is said by keys (KEYS, or the user's own);
without them the file is one history, and a session is called after the file and its place in it. A log of a call also
holds the model's reply in `response`, which is the last turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pipeline.ingest import letta, mini_swe_agent
from pipeline.ingest.codes import Code
from pipeline.ingest.errors import IngestError
from pipeline.ingest.keyed import Keys, MissingKeyError, add_session, as_name, look_up
from pipeline.ingest.messages import MessageError, as_object, message_text, role_of, turns_of
from pipeline.ingest.options import Options
from pipeline.ingest.records import Record, look_ahead, wanted
from pipeline.ingest.sample import Sample
from pipeline.ingest.source import Document, Refused, SourceHistory, SourceTurn

HISTORY_KEYS = ("history_id", "user_id", "user")
SESSION_KEYS = ("session_id", "conversation_id", "thread_id", "id")
TIME_KEYS = ("timestamp", "created_at", "created", "create_time")

_ROLES = frozenset(("system", "developer", "user", "assistant", "tool", "function"))


def read(document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    """Histories of a file of chat messages, one session at a time.

    Raises IngestError for a broken array, and for a bare list of messages of several sessions.
    """
    first, every = look_ahead(document, dict, list)
    if _is_message(first):
        # A message has an id of its own: it does not name the session.
        keys = Keys.of(options, HISTORY_KEYS, SESSION_KEYS[:-1], TIME_KEYS)
        yield from _bare(document, every, options, keys)
        return
    keys = Keys.of(options, HISTORY_KEYS, SESSION_KEYS, TIME_KEYS)
    for record in every:
        if wanted(document, record, _names(record, document.stem, keys), options):
            yield _object(document, record, options, keys)
    keys.require_found()


def recognises(sample: Sample) -> bool:
    """Objects with a list of messages that have roles, or such messages themselves; no file of an agent."""
    if not sample.records or mini_swe_agent.recognises(sample) or letta.recognises(sample):
        return False
    return all(_is_message(record) for record in sample.records) or all(
        isinstance(record, dict) and _holds_messages(record.get("messages")) for record in sample.records
    )


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict) or "messages" in value:
        return False
    role = value.get("role")
    return (
        isinstance(role, str)
        and role in _ROLES
        and any(key in value for key in ("content", "tool_calls", "function_call"))
    )


def _holds_messages(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(message, dict) and "role" in message for message in value[:3])


def _names(record: Record, stem: str, keys: Keys) -> list[str]:
    """What the record may be asked for by: its history and its session."""
    try:
        return [keys.history_id(record.value) or stem, keys.session_name(record.value) or f"{stem}:{record.number}"]
    except MissingKeyError:
        return []


def _object(document: Document, record: Record, options: Options, keys: Keys) -> SourceHistory | Refused:
    """One record as a session of its history."""
    value, place = record.value, record.place
    if isinstance(value, Refused):
        return value
    messages = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(messages, list):
        return Refused(Code.WRONG_SHAPE, place, "it has no list under the key messages")
    try:
        history_id = keys.history_id(value) or document.stem
    except MissingKeyError as error:
        return Refused(Code.WRONG_SHAPE, place, str(error), max(1, len(messages)))
    history = SourceHistory(history_id, record.position)
    turns = turns_of(history, _with_reply(messages, _reply(history, value, place)), place, _turn)
    add_session(history, value, turns, place, keys, f"{document.stem}:{record.number}", options.requests)
    return history


def _bare(
    document: Document, messages: Iterable[Record], options: Options, keys: Keys
) -> Iterator[SourceHistory | Refused]:
    """All messages of a file as one session. What they say of their history and session must agree."""
    kept: list[Any] = []
    refused: list[Refused] = []
    lost: list[Refused] = []
    owners: set[tuple[str | None, str | None]] = set()
    for record in messages:
        if isinstance(record.value, Refused):
            refused.append(record.value)
            continue
        kept.append(record.value)
        lost += record.lost
        if not isinstance(record.value, dict):
            continue
        try:
            owners.add((keys.history_id(record.value), keys.session_name(record.value)))
        except MissingKeyError as error:
            raise IngestError(f"{record.place} of a bare list of messages: {error}") from error
        if len(owners) > 1:
            raise IngestError(
                f"{record.place}: messages of several histories or sessions stand in one list. Bring each session as "
                'one object: {"session_id": ..., "messages": [...]}'
            )
    ((history_id, _),) = owners
    history, name = SourceHistory(history_id or document.stem, 0, refused=refused), f"{document.stem}:0"
    if wanted(document, Record(0, 0, "item 0", kept, tuple(lost)), [history.history_id, name], options):
        turns = turns_of(history, kept, "item 0", _turn)
        add_session(history, kept[0], turns, "item 0", keys, name, options.requests)
        yield history


def _reply(history: SourceHistory, value: Any, place: str) -> Any:
    """The message with which the model replied. A response without one is put down: as a note, if it tells of none."""
    reply, response = look_up(value, "response.choices.0.message"), look_up(value, "response")
    if not isinstance(reply, dict) and response not in (None, "", [], {}):
        told = not isinstance(response, dict) or bool(response.get("choices"))
        history.refuse(Code.BAD_TURN, f"{place}, response", "it holds no message of the model", weight=int(told))
    return reply


def _with_reply(messages: list[Any], reply: Any) -> list[Any]:
    """The messages with the reply to them, unless it is their last already."""
    if not isinstance(reply, dict):
        return messages
    last = messages[-1] if messages and isinstance(messages[-1], dict) else {}
    try:
        same = last.get("role") == reply.get("role") and message_text(last) == message_text(reply)
    except MessageError:
        same = False
    return messages if same else [*messages, reply]


def _turn(position: int, message: Any) -> SourceTurn:
    message = as_object(message)
    role = role_of(message.get("role"))
    return SourceTurn(
        position,
        "tool" if role == "function" else role,
        message_text(message),
        as_name(message.get("name")),
        as_name(message.get("id")),
    )

"""ChatGPT's own export, conversations.json: an array of conversations, each a tree of messages under `mapping`.

One file is one history, called after the file. What the user last saw of a conversation is read: the way from
`current_node` up to the root; answers that were regenerated and questions that were edited lie beside it.

A conversation may run for weeks: its messages of one day (UTC) are a session, at the time of the first of them, and the
later days are parts of the session that the first one began: all bear its name, and evidence is found by the ids of
turns. The order of the way is surer than clocks: a message that tells an earlier time than one before it is taken as
said with that one, and is never seen too early. So what day a message belongs to hangs on the way to it alone, which no
later message changes. One without a time belongs to the day of the one before it; the first ones to that of the first
message that has a time, or, where none has, to the time of the conversation.

The export begins with the newest conversation, so all sessions are held until they can be put in the order of their
times.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from pipeline.ingest.asking import asked_by_user, asking
from pipeline.ingest.codes import Code
from pipeline.ingest.days import Days, Times, by_day, first_time
from pipeline.ingest.keyed import Keys, MissingKeyError, as_name
from pipeline.ingest.messages import MessageError, as_object, content_text, role_of
from pipeline.ingest.options import Options
from pipeline.ingest.records import Record, records, wanted
from pipeline.ingest.sample import Sample
from pipeline.ingest.source import Document, Refused, SourceHistory, SourceRequest, SourceSession, SourceTurn
from pipeline.ingest.times import TimeError, parse_epoch_or_iso_time

_UNSAID = ("thoughts", "reasoning_recap", "user_editable_context", "model_editable_context")
"""Types of content that no one said: what a model thought, and settings of the user and the model."""
_NO_TIME = datetime.max.replace(tzinfo=UTC)


def read(document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    """The history of an export, or those that a key names, a session at a time.

    Raises IngestError for a broken array.
    """
    keys = Keys.of(options, (), ("conversation_id", "id"), ("create_time",))
    histories: dict[str, _Told] = {}
    for record in records(document):
        try:
            history_id = keys.history_id(record.value) or document.stem
            name = keys.session_name(record.value) or f"{document.stem}:{record.number}"
        except MissingKeyError as error:
            if wanted(document, record, [], options):
                yield Refused(Code.WRONG_SHAPE, record.place, str(error))
            continue
        if not wanted(document, record, [name, history_id], options):
            continue
        problem = _problem(record, history_id)
        if problem is not None:
            yield problem
            continue
        told = histories.setdefault(history_id, _Told(SourceHistory(history_id, 0)))
        _read_conversation(told, record, name, keys, options)
    keys.require_found()
    item = itertools.count()
    for told in histories.values():
        yield from _in_order(told, item)


@dataclass
class _Told:
    """A history on its way: what of it could not be read, and its sessions as the file has them, with what is asked in
    each."""

    history: SourceHistory
    sessions: list[tuple[SourceSession, list[SourceRequest]]] = field(default_factory=list)


def _problem(record: Record, history_id: str) -> Refused | None:
    value = record.value
    if isinstance(value, Refused):
        return value
    if not isinstance(value, dict) or not isinstance(value.get("mapping"), dict):
        return Refused(Code.WRONG_SHAPE, record.place, "it has no object under the key mapping", 1, history_id)
    return None


def recognises(sample: Sample) -> bool:
    """Objects with a mapping of messages."""
    return sample.all_have("mapping") and all(isinstance(record["mapping"], dict) for record in sample.records)


def _read_conversation(told: _Told, record: Record, name: str, keys: Keys, options: Options) -> None:
    """Adds the sessions of a conversation where it stands in the file."""
    chain, whole = _chain(record.value)
    days, times = by_day(told.history, chain, f"{record.place}, ", _message, forward=True)
    try:
        began = keys.session_time(record.value)
    except TimeError as error:
        told.history.refuse(Code.BAD_TIME, record.place, str(error), max(1, sum(map(len, days.values()))))
        return
    if not chain and any(isinstance(node, dict) and node.get("message") for node in record.value["mapping"].values()):
        told.history.refuse(Code.BAD_SESSION, record.place, "its messages lead from no last one to a first")
        return
    if not whole:
        told.history.refuse(Code.BAD_TURN, record.place, "its messages lead back to none that is there, not to a first")
    sessions = _sessions(name, began, days, times)
    asked = {id(session) for session in asking(sessions, options.requests)}
    for session in sessions:
        requests = asked_by_user(session, options.requests, name, record.place, times=times)
        told.sessions.append((session, list(requests) if id(session) in asked else []))


def _sessions(name: str, began: datetime | None, days: Days, times: Times) -> list[SourceSession]:
    """A session a day, the messages before the first time in the first; an empty one of a conversation without turns.

    Each is an item of its own, and the first session there.
    """
    undated = days.pop(None, [])
    told = list(days.values()) or [[]]
    told[0] = [*undated, *told[0]]
    return [
        SourceSession(
            0,
            name,
            first_time(turns, times) or began,
            turns,
            one_of_its_name=began is None,
            conversation_time=began,
        )
        for turns in told
    ]


def _in_order(told: _Told, item: Iterator[int]) -> Iterator[SourceHistory]:
    """The sessions by time, those without one last, each as an item and with what is asked in it."""
    refused = told.history.refused
    if not told.sessions:
        yield replace(told.history, item=next(item))
    waiting = deque(sorted(told.sessions, key=lambda one: one[0].time or _NO_TIME))
    told.sessions.clear()
    while waiting:
        session, requests = waiting.popleft()
        yield SourceHistory(told.history.history_id, next(item), [session], requests, refused)
        refused = []


def _chain(conversation: dict[str, Any]) -> tuple[list[Any], bool]:
    """The messages from the root to the current node, nodes without one left out; whether a root was reached."""
    mapping = conversation["mapping"]
    node_id, first, seen, chain = conversation.get("current_node"), "", set(), []
    if not isinstance(node_id, str) or node_id not in mapping:
        node_id = _last_leaf(mapping)
    while isinstance(node_id, str) and node_id in mapping and node_id not in seen:
        seen.add(node_id)
        first = node_id
        node = mapping[node_id]
        if not isinstance(node, dict):
            break
        if node.get("message") is not None:
            chain.append(node["message"])
        node_id = node.get("parent")
    return chain[::-1], node_id is None and not _has_parent(mapping, first)


def _has_parent(mapping: dict[str, Any], name: str) -> bool:
    """Whether a node counts another among its children."""
    children = (node.get("children") for node in mapping.values() if isinstance(node, dict))
    return any(isinstance(names, list) and name in names for names in children)


def _last_leaf(mapping: dict[str, Any]) -> str | None:
    """Old exports name no current node: the last node in the file without children."""
    leaves = [name for name, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
    return leaves[-1] if leaves else None


def _message(position: int, message: Any) -> tuple[SourceTurn | None, datetime | None]:
    """A message as a turn, and its time; what is no turn has none. Raises MessageError and TimeError."""
    turn = _turn(position, as_object(message))
    return turn, None if turn is None else parse_epoch_or_iso_time(message.get("create_time"))


def _turn(position: int, message: dict[str, Any]) -> SourceTurn | None:
    author, metadata, content = (message.get(key) for key in ("author", "metadata", "content"))
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation") is True:
        return None
    if not isinstance(author, dict):
        raise MessageError("the turn has no author")
    if isinstance(content, dict) and content.get("content_type") in _UNSAID:
        return None
    role, text, recipient = role_of(author.get("role")), _text(content), message.get("recipient")
    if role == "assistant" and isinstance(recipient, str) and recipient not in ("all", "") and text:
        text = f"{recipient}({text})"
    return SourceTurn(position, role, text, as_name(author.get("name")), as_name(message.get("id")))


def _text(content: Any) -> str:
    if not isinstance(content, dict):
        return content_text(content)
    for key in ("parts", "text", "result"):
        if content.get(key) is not None:
            return content_text(content[key])
    return ""

"""EverMemOS: each file is one chat of a group, or of people and an assistant.

A history is one file; its history_id is the name of the file without its suffix. The messages of a day (UTC) are a
session. What a message refers to (`refer_list`) and who the people are (`user_details`) is not kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from pipeline.ingest.asking import asked_by_user, asking
from pipeline.ingest.codes import Code
from pipeline.ingest.days import Times, add_days
from pipeline.ingest.errors import IngestError
from pipeline.ingest.json_values import read_whole
from pipeline.ingest.keyed import as_name
from pipeline.ingest.messages import as_object, content_text
from pipeline.ingest.options import Options
from pipeline.ingest.records import Record, wanted
from pipeline.ingest.sample import Sample, json_object
from pipeline.ingest.source import Document, Refused, SourceHistory, SourceTurn
from pipeline.ingest.times import parse_iso_time

PLACEHOLDER_CHARACTERS = 200
"""How much of what stands for an image or a file is kept: it may be the file itself."""

_ABOUT = ("session_meta", "conversation_meta")
_SAID = ("text", "link", "system")
"""Types of message whose content is text to read."""
_MACHINES = frozenset({"assistant", "agent", "ai", "bot", "robot", "chatbot", "助手", "机器人", "智能体"})


def read(document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    """The history of an EverMemOS file. Raises IngestError when it is no JSON object, or one without messages."""
    chat, lost = json_object(read_whole(document.stream))
    messages = chat.get("conversation_list")
    if not isinstance(messages, list):
        raise IngestError("it is no EverMemOS chat: key conversation_list is missing or not a list")
    if not wanted(document, Record(0, 0, "the document", chat, lost), [document.stem], options):
        return
    about: dict[str, Any] = next((chat[key] for key in _ABOUT if isinstance(chat.get(key), dict)), {})
    people = about.get("user_details")
    history = SourceHistory(document.stem, 0)
    zone = _zone(history, about.get("default_timezone"))
    senders = people if isinstance(people, dict) else {}
    times = add_days(history, messages, "", lambda position, message: _message(position, message, senders, zone))
    _ask(history, times, options)
    yield history


def recognises(sample: Sample) -> bool:
    """One object with a list of messages and what is known about them."""
    return sample.shape == "object" and any(sample.all_have("conversation_list", key) for key in _ABOUT)


def _message(position: int, value: object, senders: dict[str, Any], zone: tzinfo) -> tuple[SourceTurn, datetime | None]:
    """A message as a turn, and its time. Raises MessageError and TimeError."""
    message = as_object(value)
    sender = as_name(message.get("sender"))
    known = senders.get(sender or "")
    details: dict[str, Any] = known if isinstance(known, dict) else {}
    speaker = as_name(message.get("sender_name")) or as_name(details.get("full_name")) or sender
    role = "assistant" if _is_machine(message, details) else "user"
    turn = SourceTurn(position, role, _text(message), speaker, as_name(message.get("message_id")))
    return turn, parse_iso_time(message.get("create_time"), zone)


def _is_machine(message: dict[str, Any], details: dict[str, Any]) -> bool:
    """Whether the message says so of its sender, else whether the sender's details do."""
    extra = details.get("extra")
    said = [message.get("role"), details.get("role"), extra.get("type") if isinstance(extra, dict) else None]
    if said[0] == "user":
        return False
    return any(isinstance(role, str) and role.strip().lower() in _MACHINES for role in said)


def _text(message: dict[str, Any]) -> str:
    """What was said; of an image, a file or the like a short placeholder, if its content says anything."""
    text, kind = content_text(message.get("content")), as_name(message.get("type")) or "text"
    if kind.lower() in _SAID or not text.strip():
        return text
    return f"[{kind[:PLACEHOLDER_CHARACTERS]}] {text[:PLACEHOLDER_CHARACTERS]}"


def _zone(history: SourceHistory, name: Any) -> tzinfo:
    """The zone of times that name none: UTC where it is not given; one that is not known is put down as a note."""
    if name in (None, ""):
        return UTC
    try:
        return ZoneInfo(str(name))
    except (ValueError, KeyError, OSError):
        reason = "the zone is not known here: times that name none are taken as UTC"
        history.refuse(Code.BAD_TIME, "default_timezone", reason, weight=0)
        return UTC


def _ask(history: SourceHistory, times: Times, options: Options) -> None:
    """Adds the requests that are to be made of the messages of people, each asked when it was written."""
    for session in asking(history.sessions, options.requests):
        prefix = history.history_id if session.name is None else f"{history.history_id}/{session.name}"
        place = f"session {session.position}"
        history.requests += asked_by_user(session, options.requests, prefix, place, len(history.requests), times)

"""Letta's agent files (.af): agents with their messages, or in older files one agent at the top.

An agent is a history; its sessions are the days (UTC) on which messages were created. Agents and messages are numbered
anew in each file (`agent-0`, `message-7`), so such an id names an agent only together with the file, and a message not
at all: that is told by when it was created. Memory blocks, and the system messages that spell them out, are what the
agent made of its history, and no part of it.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.ingest.asking import asked_by_user
from pipeline.ingest.codes import Code
from pipeline.ingest.keyed import Keys, MissingKeyError, as_name
from pipeline.ingest.messages import MessageError, as_object, content_text, message_text, role_of
from pipeline.ingest.options import Options
from pipeline.ingest.records import Record, file_name, records
from pipeline.ingest.sample import Sample
from pipeline.ingest.source import Document, Refused, SourceHistory, SourceSession, SourceTurn
from pipeline.ingest.times import TimeError, parse_iso_time

_NUMBERED = re.compile(r"[a-z]+-\d+", re.ASCII)
_OLD_KEYS = ("agent_type", "core_memory", "in_context_message_indices")
_BESIDE_AGENTS = ("blocks", "groups", "mcp_servers", "sources", "tools")
_EVENTS = ("heartbeat", "login")
"""What the runtime says in the user's place to keep an agent going."""
UNDATED = "undated"
"""The session of messages that do not say when they were created; the last one."""


def read(document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    """Histories of an agent file, one agent at a time. Raises IngestError for a key other than that of the history."""
    keys = Keys.of(options, (), None, None)
    count = itertools.count()
    for record in records(document):
        agents = [(next(count), agent) for agent in _agents(document, record)]
        chosen = [(at, agent) for at, agent in agents if options.items.wants(at, _names(agent))]
        # Also where no agent is left to choose: of a key `agents` that stands twice the last counts, and may be empty.
        if chosen or not agents:
            document.lost.extend(record.lost)
        for position, agent in chosen:
            yield agent if isinstance(agent, Refused) else _history(position, agent, keys, options)


def recognises(sample: Sample) -> bool:
    """An object of agents beside what they use, or one agent with its messages."""
    record = sample.first
    if sample.shape not in ("object", "lines") or not isinstance(record, dict):
        return False
    if isinstance(record.get("agents"), list):
        return any(key in record for key in _BESIDE_AGENTS)
    return isinstance(record.get("messages"), list) and any(key in record for key in _OLD_KEYS)


@dataclass(frozen=True)
class _Agent:
    """An agent as it stands in a file, and what its history is called unless a key says otherwise."""

    value: Any
    place: str
    history_id: str


def _agents(document: Document, record: Record) -> Iterator[_Agent | Refused]:
    file, value = file_name(document, record), record.value
    if isinstance(value, Refused):
        yield value
    elif isinstance(value, dict) and isinstance(value.get("agents"), list):
        for number, agent in enumerate(value["agents"]):
            yield _Agent(agent, f"{record.place}, agent {number}", _own_id(agent) or f"{file}:agent-{number}")
    elif isinstance(value, dict) and "messages" in value:
        yield _Agent(value, record.place, _own_id(value) or file)
    else:
        yield Refused(Code.WRONG_SHAPE, record.place, "it has neither agents nor messages")


def _names(agent: _Agent | Refused) -> list[str]:
    """What an agent may be asked for by."""
    return [] if isinstance(agent, Refused) else [agent.history_id, as_name(_value(agent.value, "name")) or ""]


def _history(position: int, agent: _Agent, keys: Keys, options: Options) -> SourceHistory | Refused:
    messages = _value(agent.value, "messages")
    if not isinstance(messages, list):
        return Refused(Code.WRONG_SHAPE, agent.place, "the agent has no list of messages")
    try:
        history = SourceHistory(keys.history_id(agent.value) or agent.history_id, position)
    except MissingKeyError as error:
        return Refused(Code.WRONG_SHAPE, agent.place, str(error), max(1, len(messages)))
    days: dict[datetime | None, list[SourceTurn]] = {}
    for number, message in enumerate(messages):
        place = f"{agent.place}, message {number}"
        try:
            day, name = _created(message)
            turns = days.setdefault(day, [])
            turn = _turn(len(turns), message, name)
        except TimeError as error:
            history.refuse(Code.BAD_TIME, place, f"created_at: {error}")
            continue
        except MessageError as error:
            history.refuse(Code.BAD_TURN, place, str(error))
            continue
        if turn is not None:
            turns.append(turn)
    for day in sorted((day for day in days if day), key=datetime.timestamp):
        _session(history, f"{day:%Y-%m-%d}", day, days[day], agent.place, options)
    if None in days:
        _session(history, UNDATED, None, days[None], agent.place, options)
    return history


def _session(
    history: SourceHistory, name: str, day: datetime | None, turns: list[SourceTurn], place: str, options: Options
) -> None:
    if not turns:
        return
    session = SourceSession(len(history.sessions), name, day, turns)
    history.sessions.append(session)
    history.requests += asked_by_user(session, options.requests, name, f"{place}, {name}", len(history.requests))


def _created(message: Any) -> tuple[datetime | None, str | None]:
    """The beginning of the day (UTC) on which a message was created, and what tells it from others.

    The day and not the minute: an export may begin in the middle of a day, and its session must stay the same.
    """
    message = as_object(message)
    time = parse_iso_time(message.get("created_at"))
    if time is None:
        return None, _own_id(message)
    return time.replace(hour=0, minute=0, second=0, microsecond=0), _own_id(message) or time.isoformat()


def _turn(position: int, message: dict[str, Any], name: str | None) -> SourceTurn | None:
    role, speaker = role_of(message.get("role")), as_name(message.get("name"))
    if role == "system" or (role == "tool" and speaker == "send_message"):
        return None
    if role == "assistant" or (role == "approval" and message.get("tool_calls")):
        return SourceTurn(position, "assistant", _spoken(message), speaker, name)
    text = message_text(message) if message.get("content") is not None else content_text(message.get("text"))
    text = text if text.strip() else _returned(message)
    packed = _packed(text)
    if role == "user" and packed.get("type") in _EVENTS:
        return None
    if isinstance(packed.get("message"), str) and ("type" in packed or "status" in packed):
        text = packed["message"]
        role = "system" if role == "user" and packed.get("type") != "user_message" else role
    return SourceTurn(position, role, text, speaker, name)


def _spoken(message: dict[str, Any]) -> str:
    """Text and tool calls of the agent; what it calls `send_message` with is what it says."""
    calls = message.get("tool_calls")
    said: list[str] = []
    others = []
    for call in calls if isinstance(calls, list) else []:
        inner = call.get("function") if isinstance(call, dict) else None
        spoken = None
        if isinstance(inner, dict) and inner.get("name") == "send_message":
            spoken = _packed(inner.get("arguments")).get("message")
        if isinstance(spoken, str):
            said.append(spoken)
        else:
            others.append(call)
    content = message.get("content") if message.get("content") is not None else message.get("text")
    text = message_text({**message, "content": content, "tool_calls": others if isinstance(calls, list) else calls})
    return "\n".join(part for part in [text, *said] if part)


def _returned(message: dict[str, Any]) -> str:
    """What tools returned, or why a call was denied, where a message has no text of its own."""
    entries = [*_list(message, "tool_returns"), *_list(message, "approvals"), message]
    found = (_value(entry, key) for entry in entries for key in ("func_response", "tool_return", "reason"))
    texts = [content_text(value) for value in [*found, message.get("denial_reason")]]
    return "\n".join(text for text in texts if text.strip())


def _packed(text: Any) -> dict[str, Any]:
    """The object that older versions wrap a message in; empty where there is none."""
    try:
        value = json.loads(text, strict=False) if isinstance(text, str) and text.lstrip().startswith("{") else text
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _own_id(value: Any) -> str | None:
    """An id that means the same in every file."""
    own_id = as_name(_value(value, "id"))
    return None if own_id is None or _NUMBERED.fullmatch(own_id) else own_id


def _value(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _list(message: dict[str, Any], key: str) -> list[Any]:
    value = message.get(key)
    return value if isinstance(value, list) else []

"""The text of a message as chat APIs hold it: parts, tool calls and their results.

What a model thought and did not say (`thinking`, `reasoning`) is no part of it. Images, sound and files become a mark.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from pipeline.ingest.codes import Code
from pipeline.ingest.source import SourceHistory, SourceTurn

_MARKS = ("image", "video", "audio", "file", "document")
_THOUGHTS = ("thinking", "reasoning", "thought")
_ROLE_CHARACTERS = 100
_DEEPEST = 8
"""Results within results within results: what is deeper is an attack."""


class MessageError(ValueError):
    """A message is not what the format says; the text quotes nothing of it."""


def turns_of(
    history: SourceHistory, messages: Iterable[Any], place: str, read: Callable[[int, Any], SourceTurn | None]
) -> list[SourceTurn]:
    """The turns that `read` makes of messages by position (None: no turn); those it refuses go to quarantine."""
    turns = []
    for position, message in enumerate(messages):
        try:
            turn = read(position, message)
        except MessageError as error:
            history.refuse(Code.BAD_TURN, f"{place}, turn {position}", str(error))
            continue
        if turn is not None:
            turns.append(turn)
    return turns


def as_object(message: Any) -> dict[str, Any]:
    """The message. Raises MessageError when it is not an object."""
    if not isinstance(message, dict):
        raise MessageError("the turn is not an object")
    return message


def role_of(value: Any) -> str:
    """The role. Raises MessageError when there is none."""
    if not isinstance(value, str) or not value.strip() or len(value) > _ROLE_CHARACTERS:
        raise MessageError("the turn has no role")
    return value.strip()


def message_text(message: dict[str, Any]) -> str:
    """Content, then what the model refused to say or said aloud, then its tool calls, each on lines of its own.

    Raises MessageError.
    """
    audio = message.get("audio")
    said = [content_text(message.get("content")), message.get("refusal")]
    said.append(audio.get("transcript") if isinstance(audio, dict) else None)
    said += [call_text(call) for call in _calls(message)]
    return "\n".join(text for text in said if isinstance(text, str) and text)


def content_text(content: Any, depth: int = 0) -> str:
    """Text as it is, null as none, the parts of a list joined by line breaks. Raises MessageError."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise MessageError("content is neither text nor a list of parts")
    if depth > _DEEPEST:
        raise MessageError("content is nested too deeply")
    texts = [_part_text(part, depth) for part in content]
    return "\n".join(text for text in texts if text)


def call_text(call: Any) -> str:
    """`name(arguments)` of a tool call, in any of the shapes of chat APIs. Raises MessageError."""
    if not isinstance(call, dict):
        raise MessageError("a tool call is not an object")
    inner = next((call[key] for key in ("function", "custom") if isinstance(call.get(key), dict)), call)
    name = inner.get("name")
    if not isinstance(name, str) or not name.strip():
        raise MessageError("a tool call has no name")
    arguments = next((inner[key] for key in ("arguments", "input") if inner.get(key) is not None), "")
    return f"{name.strip()}({arguments if isinstance(arguments, str) else json_text(arguments)})"


def json_text(value: Any) -> str:
    """A value as JSON. Raises MessageError for what is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError as error:
        raise MessageError("a value is nested too deeply") from error


def _calls(message: dict[str, Any]) -> list[Any]:
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise MessageError("tool_calls is not a list")
    legacy = message.get("function_call")
    return [*calls, legacy] if legacy else calls


def _part_text(part: Any, depth: int) -> str:
    if part is None or isinstance(part, str):
        return part or ""
    if not isinstance(part, dict):
        raise MessageError("a part of the content is neither text nor an object")
    return _object_text(part, depth)


def _object_text(part: dict[str, Any], depth: int) -> str:
    kind = part.get("type") or part.get("content_type")
    kind = kind if isinstance(kind, str) else ""
    if kind in ("tool_use", "tool_call"):
        return call_text(part)
    if kind in ("tool_result", "tool_return"):
        return content_text(part.get("content"), depth + 1)
    thoughts = any(thought in kind for thought in _THOUGHTS)
    text = part.get("refusal") if kind == "refusal" else part.get("text")
    if isinstance(text, dict):
        text = text.get("value")
    if isinstance(text, str) and not thoughts:
        return text
    if thoughts or (kind.endswith("text") and text is None):
        return ""
    if kind.endswith("text"):
        raise MessageError("a part of the content is of type text and holds none")
    return f"[{next((mark for mark in _MARKS if mark in kind), 'attachment')}]"

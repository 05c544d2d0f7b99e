"""mini-swe-agent: one run a file, as a bare list of messages or as an object (`trajectory_format`) that holds them.

A history is one run and is called after its file: `instance_id` is the task's, which may be run many times. A message
of the assistant and what is observed of it (the next message, or those of role `tool` that name its calls) are one
turn. The raw answers of the model (`extra`) are left out; its first `timestamp` is the time of the session.

A bare list of messages is mini-swe-agent's if one of its first RECORDS messages bears a mark of it: the command that
ends a run, the fence or the rule of one bash code block, `<returncode>`, or the actions that it parsed (`extra`). Any
other bare list of messages is `openai-chat`, and so is an object with `messages` and neither a `trajectory_format` nor
an `info` of mini-swe-agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pipeline.ingest.messages import MessageError, content_text, role_of
from pipeline.ingest.options import Options
from pipeline.ingest.records import file_name, wanted
from pipeline.ingest.runs import Log, read_run, runs_of
from pipeline.ingest.sample import Sample
from pipeline.ingest.source import Document, Refused, SourceHistory
from pipeline.ingest.steps import Call, Run, names, tool_calls
from pipeline.ingest.times import parse_epoch_or_iso_time

_MARKS = re.compile(
    r"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT|MINI_SWE_AGENT_FINAL_OUTPUT|```mswea_bash_command|<returncode>"
    r"|exactly one bash code block",
    re.IGNORECASE,
)
_OPENINGS = tuple(re.compile(rf"```{language}[ \t]*\r?\n") for language in ("mswea_bash_command", "bash"))
_CLOSING = "\n```"
_OBSERVED = re.compile(r"\s*<(?:returncode|exception)>")
_INFO = ("mini_version", "exit_status", "model_stats")


def read(document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    """The run that a file holds, or one run a line. Raises IngestError for a broken array."""
    for record in runs_of(document, lambda value: "messages" in value):
        history_id = file_name(document, record)
        task = record.value.get("instance_id") if isinstance(record.value, dict) else None
        if wanted(document, record, [history_id, *([task] if isinstance(task, str) else [])], options):
            yield read_run(record, history_id, _LOG, options)


def recognises(sample: Sample) -> bool:
    """See the head of this module."""
    if sample.records and all(map(_is_message, sample.records)):
        return any(map(_is_marked, sample.records))
    return sample.all_have("messages") and all(map(_is_run, sample.records))


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value and "messages" not in value


def _is_marked(message: dict[str, Any]) -> bool:
    content, extra = message.get("content"), message.get("extra")
    if message["role"] == "assistant" and isinstance(extra, dict) and "actions" in extra:
        return True
    try:
        return _MARKS.search(content_text(content)) is not None
    except MessageError:
        return False


def _is_run(record: dict[str, Any]) -> bool:
    name, info = record.get("trajectory_format"), record.get("info")
    named = isinstance(name, str) and name.startswith("mini-swe-agent")
    return named or (isinstance(info, dict) and any(key in info for key in _INFO))


def _time(message: dict[str, Any]) -> datetime | None:
    extra = message.get("extra")
    return parse_epoch_or_iso_time(extra.get("timestamp")) if isinstance(extra, dict) else None


def _read_message(run: Run, position: int, message: dict[str, Any]) -> None:
    role, content = role_of(message.get("role")), content_text(message.get("content"))
    if role == "assistant":
        run.act(position, *_action(message, content))
    elif role in ("tool", "exit") or run.waits() or _OBSERVED.match(content):
        run.observe(position, content, names(message.get("tool_call_id")))
    else:
        run.say(position, role, content)


_LOG = Log("messages", "message", _is_message, _time, _read_message)


def _action(message: dict[str, Any], content: str) -> tuple[str, list[Call]]:
    """Thought and calls of a message: its tool calls, the only block of bash in it, or what was parsed of it.

    Where several blocks stand, none was run.
    """
    calls = tool_calls(message)
    if calls:
        return content, calls
    blocks = next(filter(None, (_blocks(content, opening) for opening in _OPENINGS)), [])
    if len(blocks) == 1:
        ((start, command, end),) = blocks
        return f"{content[:start].rstrip()}\n{content[end:].lstrip()}", [Call(command)]
    extra = message.get("extra")
    actions = extra.get("actions") if isinstance(extra, dict) and not blocks else None
    parsed = (
        [action.get("command") for action in actions if isinstance(action, dict)] if isinstance(actions, list) else []
    )
    return content, [Call(command) for command in parsed if isinstance(command, str)] or [Call("")]


def _blocks(content: str, opening: re.Pattern[str]) -> list[tuple[int, str, int]]:
    """Start, text and end of each block of a language, which the next line that begins with a fence closes."""
    blocks: list[tuple[int, str, int]] = []
    for opened in opening.finditer(content):
        if blocks and opened.start() < blocks[-1][2]:
            continue
        closed = content.find(_CLOSING, opened.end() - 1)
        if closed < 0:
            break
        blocks.append((opened.start(), content[opened.end() : closed], closed + len(_CLOSING)))
    return blocks

"""The run of an agent as turns: one rendering of its steps, whatever logged them.

A step is one turn: what the agent thought, what it did (after `$ `), and what came of it (below a line `=>`):

    The missing colon is on line 4.

    $ sed -i 's/float$/float:/' division.py && python division.py
    =>
    8.2

The texts stand as they were logged, but for blank lines and spaces around them. Parts that are absent leave no mark.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.ingest.messages import MessageError, json_text
from pipeline.ingest.source import SourceTurn

ACTION = "$ "
OBSERVATION = "=>"
BLOCK = re.compile(r"^(?=\$ |=>$)", re.MULTILINE)
"""Where a block of a step's text begins: what it did, or what came of it."""

_SAYS_NOTHING = ("", "null", "false", "[]", "{}")
_LONE = frozenset(("command", "code"))


def call_text(name: str, arguments: Mapping[str, Any]) -> str:
    """A call of a tool as text: a lone command or piece of code as it is, else the name, then `key=value`.

    A value of several lines stands below, under its key. What is null, false or empty is left out. Raises MessageError
    for what is nested too deeply.
    """
    values = {key: value if isinstance(value, str) else json_text(value) for key, value in arguments.items()}
    values = {key: value for key, value in values.items() if value not in _SAYS_NOTHING}
    if len(values) == 1 and not _LONE.isdisjoint(values):
        return next(iter(values.values()))
    short = [f"{key}={value}" for key, value in values.items() if "\n" not in value]
    long = [f"{key}:\n{value}" for key, value in values.items() if "\n" in value]
    return "\n".join([" ".join([name, *short]), *long])


def tool_calls(message: Mapping[str, Any]) -> list[Call]:
    """The tool calls of a chat message, named by their ids. Arguments that are no JSON object stand as written.

    Raises MessageError.
    """
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise MessageError("tool_calls is not a list")
    return [Call(tool_call_text(call), names(call.get("id"))) for call in map(_call_object, calls)]


def tool_call_text(call: Any) -> str:
    """A tool call, `{function: {name, arguments}}` or `{name, arguments}`. Raises MessageError."""
    call = _call_object(call)
    function = call["function"] if isinstance(call.get("function"), dict) else call
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str):
        raise MessageError("a tool call has no name")
    parsed = _parsed(arguments) if isinstance(arguments, str) else arguments
    if isinstance(parsed, dict):
        return call_text(name, parsed)
    return f"{name} {arguments}" if isinstance(arguments, str) else name


def names(*values: Any) -> list[Hashable]:
    """Those values that can be a name, of a call or an event."""
    return [value for value in values if isinstance(value, str | int) and value != ""]


def _call_object(call: Any) -> dict[str, Any]:
    if not isinstance(call, dict):
        raise MessageError("a tool call is not an object")
    return call


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


@dataclass
class Call:
    """One thing the agent did: its text and what came of it. `keys`: what an observation of it may name it by."""

    text: str
    keys: Sequence[Hashable] = ()
    observations: list[str] = field(default_factory=list)


@dataclass
class _Entry:
    position: int
    role: str
    name: str | None
    text: str
    calls: Sequence[Call] = ()


class Run:
    """Collects what a log says, in its order. Positions are those in the log; names are the log's own ids."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._called: dict[Hashable, Call] = {}
        self._newest: deque[Call] = deque()

    def say(self, position: int, role: str, text: str, name: str | None = None) -> None:
        """A message that is a turn of its own."""
        self._entries.append(_Entry(position, role, name, text))
        self._newest.clear()

    def act(
        self, position: int, thought: str, calls: Sequence[Call], name: str | None = None, role: str = "assistant"
    ) -> None:
        """A step, which has a call at least, if only one without text."""
        self._entries.append(_Entry(position, role, name, thought, calls))
        self._newest = deque(calls)
        self._called.update((key, call) for call in calls for key in call.keys)

    def observe(self, position: int, text: str, keys: Iterable[Hashable] = (), name: str | None = None) -> None:
        """What came of a call: of the one that is named by the first of `keys` that names any.

        Without keys it belongs to the newest step, where that still waits for one. What belongs to none is a turn of
        role `tool`.
        """
        named = list(keys)
        call = next((self._called[key] for key in named if key in self._called), None)
        if call is None and not named:
            call = self._waiting()
        if call is None:
            self.say(position, "tool", text, name)
        else:
            call.observations.append(text)

    def waits(self) -> bool:
        """Whether what came last is a step with a call of which nothing has come yet."""
        return self._waiting() is not None

    def under_way(self) -> bool:
        """Whether what came last is a step that did something of which nothing has come yet."""
        call = self._waiting()
        return call is not None and bool(call.text.strip())

    def turns(self) -> list[SourceTurn]:
        """The turns, in order."""
        return [
            SourceTurn(entry.position, entry.role, step_text(entry.text, entry.calls), name=entry.name)
            if entry.calls
            else SourceTurn(entry.position, entry.role, entry.text, name=entry.name)
            for entry in self._entries
        ]

    def _waiting(self) -> Call | None:
        """The first call of the newest step, if nothing stands behind it, of which nothing has come."""
        while self._newest and self._newest[0].observations:
            self._newest.popleft()
        return self._newest[0] if self._newest else None


def step_text(thought: str, calls: Iterable[Call]) -> str:
    """The text of a step: see the head of this module."""
    return "\n\n".join(part for part in [_trimmed(thought), *map(_call_text, calls)] if part)


def _call_text(call: Call) -> str:
    action = _trimmed(call.text)
    observed = "\n".join(filter(None, map(_trimmed, call.observations)))
    lines = [f"{ACTION}{action}"] if action else []
    return "\n".join([*lines, OBSERVATION, observed] if observed else lines)


def _trimmed(text: str) -> str:
    """Without blank lines before and blanks after it; the first line keeps its indent."""
    lines = text.rstrip()
    start = len(lines) - len(lines.lstrip())
    return lines[lines.rfind("\n", 0, start) + 1 :]

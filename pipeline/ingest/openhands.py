"""OpenHands: a list of events, of V0 (`action`, `observation`) or V1 (`kind`), or the lines of an evaluation's output.

A history is one run. A list of events is called after its file; in `output.jsonl` each line is a run, called after the
file and its `instance_id` or `issue`: another run of the same task has a file of its own. An action and its
observation, which names it by `cause`, `action_id` or `tool_call_id`, are one turn at the place of the action; messages
are turns of their own. What only the machinery says is left out: changes of its state, null observations, recalls of
prompt parts, condensations (they repeat what is here), the model's raw answers. Times without a zone are UTC, as
OpenHands writes them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from datetime import datetime
from typing import Any

from pipeline.ingest.messages import MessageError, as_object, content_text
from pipeline.ingest.openhands_actions import action_v0, action_v1, observation_v1
from pipeline.ingest.options import Options
from pipeline.ingest.records import wanted
from pipeline.ingest.runs import Log, read_run, runs_of
from pipeline.ingest.sample import Sample
from pipeline.ingest.source import Document, Refused, SourceHistory
from pipeline.ingest.steps import Call, Run, names
from pipeline.ingest.times import parse_iso_time

_NOISE = frozenset(
    ("null", "agent_state_changed", "change_agent_state", "recall", "condense", "condensation", "condensation_request")
)
_ANSWERS = frozenset(("ObservationEvent", "UserRejectObservation", "AgentErrorEvent"))
_KINDS = _ANSWERS | {"SystemPromptEvent", "MessageEvent", "ActionEvent"}
_SAYING = ("llm_message", "action", "observation", "system_prompt")
"""What events hold that are no noise, of whatever kind they say they are."""
_TASKS = ("instance_id", "issue")


def read(document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    """The run whose events a file lists, or one run a line. Raises IngestError for a broken array."""
    for record in runs_of(document, lambda value: "history" in value or any(key in value for key in _TASKS)):
        if isinstance(record.value, list):
            history_id, ids = document.stem, [document.stem]
        else:
            task = _task(record.value)
            history_id = f"{document.stem}:{record.number if task is None else task}"
            ids = [history_id] if task is None else [history_id, task]
        if wanted(document, record, ids, options):
            yield read_run(record, history_id, _LOG, options)


def recognises(sample: Sample) -> bool:
    """Events, or objects with a `history` of events and an `instance_id` or `issue`."""
    if sample.records and all(map(_is_event, sample.records)):
        return True
    named = sample.all_have("history") and all(any(key in record for key in _TASKS) for record in sample.records)
    return named and any(_is_event(event) for record in sample.records for event in _events(record["history"])[:3])


def _is_event(value: Any) -> bool:
    if not isinstance(value, dict) or "role" in value or "history" in value:
        return False
    kind = value.get("kind")
    if isinstance(kind, str):
        return "source" in value and (kind in _KINDS or kind.endswith(("Event", "Condensation")))
    does = isinstance(value.get("action"), str) and ("args" in value or "source" in value)
    return does or (isinstance(value.get("observation"), str) and ("content" in value or "source" in value))


def _events(history: Any) -> list[Any]:
    """Events of a list of events, or of pairs of an action and its observation."""
    if not isinstance(history, list):
        return []
    return [event for entry in history for event in (entry if isinstance(entry, list) and entry else [entry])]


def _task(value: Any) -> str | None:
    """What the record says its task is."""
    for key in _TASKS:
        task = value.get(key) if isinstance(value, dict) else None
        if isinstance(task, dict):
            parts = (task.get("owner"), task.get("repo"), task.get("number"))
            task = "/".join(map(str, names(*parts))) or None
        if isinstance(task, str | int) and str(task).strip():
            return str(task)
    return None


def _time(event: dict[str, Any]) -> datetime | None:
    return parse_iso_time(event.get("timestamp"))


def _read_event(run: Run, position: int, event: dict[str, Any]) -> None:
    kind, action, observation = (event.get(key) for key in ("kind", "action", "observation"))
    if isinstance(kind, str):
        _read_v1(run, position, event, kind)
    elif isinstance(action, str):
        if action not in _NOISE:
            _read_action_v0(run, position, event, action)
    elif not isinstance(observation, str):
        raise MessageError("the event is neither an action nor an observation")
    elif observation not in _NOISE:
        run.observe(position, content_text(event.get("content")), _keys("cause", event), _name(event))


_LOG = Log("history", "event", _is_event, _time, _read_event, _events)


def _read_action_v0(run: Run, position: int, event: dict[str, Any], action: str) -> None:
    args = event.get("args")
    if args is not None and not isinstance(args, dict):
        raise MessageError("args is not an object")
    args = args or {}
    user = event.get("source") == "user"
    if action in ("message", "system"):
        role = "system" if action == "system" else "user" if user else "assistant"
        said = content_text(args.get("content")) or content_text(event.get("message"))
        run.say(position, role, said, _name(event))
    else:
        thought, call = action_v0(action, args, event)
        # What a user runs in the agent's shell is no step of the agent.
        run.act(position, thought, [Call(call, _own_keys(event))], _name(event), "user" if user else "assistant")


def _read_v1(run: Run, position: int, event: dict[str, Any], kind: str) -> None:
    name = _name(event)
    if kind == "SystemPromptEvent":
        run.say(position, "system", _part_text(event.get("system_prompt")), name)
    elif kind == "MessageEvent":
        message = as_object(event.get("llm_message"))
        role = "assistant" if event.get("source") == "agent" else "user"
        run.say(position, role, _part_text(message.get("content")), name)
    elif kind == "ActionEvent":
        thought, call = action_v1(event)
        run.act(position, thought, [Call(call, _own_keys(event))], name)
    elif kind in _ANSWERS:
        run.observe(position, observation_v1(event), _keys("action_id", event), name)
    elif any(event.get(key) is not None for key in _SAYING):
        raise MessageError("the event is of a kind that is not known")


def _part_text(content: Any) -> str:
    return content_text([content] if isinstance(content, dict) else content)


def _own_keys(event: dict[str, Any]) -> list[Hashable]:
    """What an observation may call this action by. Ids of events and of tool calls are told apart."""
    return [("event", key) for key in names(event.get("id"))] + _tool_call(event)


def _keys(cause: str, event: dict[str, Any]) -> list[Hashable]:
    return [("event", key) for key in names(event.get(cause))] + _tool_call(event)


def _tool_call(event: dict[str, Any]) -> list[Hashable]:
    metadata = event.get("tool_call_metadata")
    within = metadata.get("tool_call_id") if isinstance(metadata, dict) else None
    return [("call", key) for key in names(event.get("tool_call_id"), within)]


def _name(event: dict[str, Any]) -> str | None:
    return next(map(str, names(event.get("id"))), None)

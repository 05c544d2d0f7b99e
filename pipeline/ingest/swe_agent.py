"""SWE-agent: one `.traj` file a run, of v0.x or v1.x.

A history is one run and is called after its file: what ids a file holds are those of the task, which may be run many
times. Its one session holds the prompts (`history` up to the first action, or `query` of the first step) and a turn
for each step of `trajectory`; in files with `history` only, for each message of the assistant with the observations
that follow it. Demonstrations (`is_demo`) are not of this run and are left out, as are `state`, which the observations
repeat, and the prompt that each step repeats.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipeline.ingest.codes import Code
from pipeline.ingest.messages import MessageError, as_object, content_text, role_of
from pipeline.ingest.options import Options
from pipeline.ingest.records import Record, file_name, records, wanted
from pipeline.ingest.runs import add_session
from pipeline.ingest.sample import Sample
from pipeline.ingest.source import Document, Refused, SourceHistory
from pipeline.ingest.steps import Call, Run, tool_calls


def read(document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    """The run that a file holds, or one run a line. Raises IngestError when the file is no JSON."""
    for record in records(document):
        history_id = file_name(document, record)
        if wanted(document, record, [history_id, *_task_ids(record.value)], options):
            yield _history(record, history_id, options)


def recognises(sample: Sample) -> bool:
    """Objects with a `trajectory` of steps beside `history` or `info`, or with a `history` of messages that name their
    agent."""
    return sample.all_have() and all(map(_is_run, sample.records))


def _is_run(record: Any) -> bool:
    steps, messages = record.get("trajectory"), record.get("history")
    if isinstance(steps, list):
        beside = isinstance(messages, list) or isinstance(record.get("info"), dict)
        return beside and all(
            isinstance(step, dict) and ("action" in step or "observation" in step) for step in steps[:1]
        )
    first = messages[0] if isinstance(messages, list) and messages else None
    return isinstance(first, dict) and "role" in first and ("agent" in first or "message_type" in first)


def _task_ids(record: Any) -> list[str]:
    """What the task is called, by which a run may be chosen."""
    config = record.get("replay_config") if isinstance(record, dict) else None
    problem = config.get("problem_statement") if isinstance(config, dict) else None
    task = problem.get("id") if isinstance(problem, dict) else None
    return [task] if isinstance(task, str) else []


def _history(record: Record, history_id: str, options: Options) -> SourceHistory | Refused:
    value, place = record.value, record.place
    if isinstance(value, Refused):
        return value
    steps, messages = (value.get(key) if isinstance(value, dict) else None for key in ("trajectory", "history"))
    if not isinstance(steps, list) and not isinstance(messages, list):
        return Refused(Code.WRONG_SHAPE, place, "it has neither a list trajectory nor a list history", 1, history_id)
    history = SourceHistory(history_id, record.position)
    for key in ("trajectory", "history"):
        if not isinstance(value.get(key), list | None):
            history.refuse(Code.WRONG_SHAPE, place, f"key {key} is not a list")
    run = Run()
    messages = messages if isinstance(messages, list) else []
    if isinstance(steps, list) and steps:
        prompts = _before_first_step(messages or _first_query(steps))
        task = _read_messages(history, run, prompts, place)
        _read_steps(history, run, steps, len(prompts), place)
    else:
        task = _read_messages(history, run, messages, place)
    return add_session(history, run, None, options, place, task)


def _first_query(steps: list[Any]) -> list[Any]:
    """The prompt as the first step repeats it."""
    first = steps[0] if isinstance(steps[0], dict) else {}
    query = first.get("query", first.get("messages"))
    return query if isinstance(query, list) else []


def _before_first_step(messages: list[Any]) -> list[Any]:
    """The messages before the first of the assistant that is not of a demonstration."""
    acts = (
        at
        for at, message in enumerate(messages)
        if isinstance(message, dict) and message.get("role") == "assistant" and not message.get("is_demo")
    )
    return messages[: next(acts, len(messages))]


def _read_messages(history: SourceHistory, run: Run, messages: list[Any], place: str) -> str:
    """Reads messages of `history`; the task, which is what the user said last before the first step."""
    task, acted = "", False
    for position, given in enumerate(messages):
        try:
            message = as_object(given)
            if message.get("is_demo"):
                continue
            role, content = role_of(message.get("role")), content_text(message.get("content"))
            if role == "assistant":
                run.act(position, *_action(message, content))
                acted = True
            elif acted and role != "system":
                run.observe(position, content)
            else:
                run.say(position, role, content)
                task = content if role == "user" else task
        except MessageError as error:
            history.refuse(Code.BAD_TURN, f"{place}, history {position}", str(error))
    return task


def _action(message: dict[str, Any], content: str) -> tuple[str, list[Call]]:
    """Thought and calls of a message, which are beside its content or, in the oldest files, not told from it."""
    thought, action = message.get("thought"), message.get("action")
    if isinstance(action, str):
        return thought if isinstance(thought, str) else content, [Call(action)]
    return content, tool_calls(message) or [Call("")]


def _read_steps(history: SourceHistory, run: Run, steps: list[Any], first: int, place: str) -> None:
    """Reads the steps of `trajectory`; positions of turns count from `first`."""
    for number, given in enumerate(steps):
        try:
            step = as_object(given)
            thought, action, observation = (content_text(step.get(key)) for key in ("thought", "action", "observation"))
            if not thought.strip() and not action.strip():
                thought = content_text(step.get("response"))
            run.act(first + number, thought, [Call(action, observations=[observation])])
        except MessageError as error:
            history.refuse(Code.BAD_TURN, f"{place}, step {number}", str(error))

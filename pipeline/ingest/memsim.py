"""MemSim (MemDaily): trajectories of messages that a person leaves with an assistant, each with questions over them.

The file is an array of trajectories, or object in object of such arrays by type of question and scenario. A history is
one trajectory. Trajectories are counted anew in each array, so its history_id is the name of the file without its
suffix, the keys that lead to the array, and tid. The messages of a day are a session.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pipeline.ingest.asking import stored
from pipeline.ingest.codes import Code
from pipeline.ingest.days import Times, add_days
from pipeline.ingest.dialogue import text_or_none, with_caption
from pipeline.ingest.json_items import json_grouped_items, place_of
from pipeline.ingest.keyed import as_name
from pipeline.ingest.messages import MessageError, as_object
from pipeline.ingest.options import Options
from pipeline.ingest.quoting import shown
from pipeline.ingest.records import Record, wanted
from pipeline.ingest.sample import Sample
from pipeline.ingest.source import Document, Refused, SourceHistory, SourceRequest, SourceTurn, TurnReference
from pipeline.ingest.times import TimeError, parse_memsim_time

_FAILED = ("[ERRORQ]", "[ERRORA]")
"""What the simulator writes where it could make no question or no answer."""

Places = dict[str, list[tuple[int, int]]]
"""Positions of session and turn of the messages that bear a step's id."""


def read(document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    """Histories of a MemSim file, one at a time. Raises IngestError when it is neither a JSON array nor an object."""
    lost: list[Refused] = []
    for position, (path, index, item) in enumerate(json_grouped_items(document.stream, lost)):
        record = Record(position, index, place_of(index, path), item, tuple(lost))
        lost.clear()
        tid = (as_name(item.get("tid")) if isinstance(item, dict) else None) or str(index)
        history_id = "/".join([document.stem, *path, tid])
        if wanted(document, record, [history_id, tid], options):
            yield _history(position, item, history_id, path[0] if path else None, record.place)


def recognises(sample: Sample) -> bool:
    """Trajectories with numbered messages, or messages as text, in an array or in object in object of arrays."""
    first = sample.first
    if sample.shape == "object":
        while isinstance(first, dict) and "message_list" not in first:
            first = next((inner for inner in first.values() if isinstance(inner, dict | list) and inner), None)
        first = first[0] if isinstance(first, list) else None
    elif sample.shape != "array":
        return False
    if not isinstance(first, dict) or "tid" not in first:
        return False
    messages = first.get("message_list")
    message = messages[0] if isinstance(messages, list) and messages else None
    return isinstance(message, str) or (isinstance(message, dict) and "message" in message)


def _history(position: int, item: Any, history_id: str, category: str | None, place: str) -> SourceHistory | Refused:
    messages = item.get("message_list") if isinstance(item, dict) else None
    if not isinstance(messages, list):
        return Refused(Code.WRONG_SHAPE, place, "key message_list is missing or not a list", 1, history_id)
    history = SourceHistory(history_id, position)
    times = add_days(history, messages, f"{place}, ", _message)
    places: Places = {}
    for session in history.sessions:
        for turn in session.turns:
            places.setdefault(turn.name or str(turn.position), []).append((session.position, turn.position))
    given: Any = next((item[key] for key in ("question_list", "QA") if item.get(key) is not None), [])
    for index, question in enumerate(given if isinstance(given, list) else [given]):
        _request(history, index, question, category, times, places, f"{place}, question {index}")
    return history


def _message(position: int, message: object) -> tuple[SourceTurn, datetime | None]:
    """A message with its place in brackets, and its time. Raises MessageError and TimeError."""
    if isinstance(message, str):
        text, place, time = _apart(message)
        return _turn(position, text, place, None), parse_memsim_time(time)
    values = as_object(message)
    said, where = values.get("message"), values.get("place")
    if not all(value is None or isinstance(value, str) for value in (said, where)):
        raise MessageError("message and place must be text")
    turn = _turn(position, said or "", where or "", as_name(values.get("mid")))
    return turn, parse_memsim_time(values.get("time"))


def _turn(position: int, said: str, where: str, name: str | None) -> SourceTurn:
    # A place where nothing was said is nothing.
    return SourceTurn(position, "user", with_caption(said, where) if said.strip() else "", name=name)


def _apart(message: str) -> tuple[str, str, str | None]:
    """Message, place and time of `message (消息地点 place, 消息时间 time)`, as the files with noise hold them."""
    text, mark, behind = message.rpartition(" (消息地点 ")
    place, between, time = behind.removesuffix(")").rpartition(", 消息时间 ")
    return (text, place, time) if mark and between and behind.endswith(")") else (message, "", None)


def _request(
    history: SourceHistory,
    index: int,
    question: Any,
    category: str | None,
    times: Times,
    places: Places,
    where: str,
) -> None:
    request_id = f"{history.history_id}#q{index}"
    text = question.get("question") if isinstance(question, dict) else None
    if not isinstance(text, str) or not text.strip():
        history.refuse(Code.BAD_REQUEST, where, "the question has no text", 1, request_id)
        return
    answer = _answer(question)
    if text.strip() in _FAILED or answer in _FAILED:
        history.refuse(Code.BAD_REQUEST, where, "the simulator marked it as failed", 1, request_id)
        return
    try:
        asked_at = parse_memsim_time(question.get("time"))
    except TimeError as error:
        history.refuse(Code.BAD_TIME, where, str(error), 1, request_id)
        return
    history.requests.append(
        SourceRequest(
            index,
            request_id,
            text,
            asked_at=asked_at,
            category=category,
            answer=answer,
            seen=_first_unseen(history, asked_at, times, where),
            seen_before=True,
            evidence=tuple(_evidence(history, request_id, question.get("target_step_id"), places, where)),
        )
    )


def _answer(question: dict[str, Any]) -> str | None:
    """The answer, or the choice that is marked as right."""
    choices, right = question.get("choices"), question.get("ground_truth")
    if question.get("answer") is None and isinstance(choices, dict) and isinstance(right, str):
        return text_or_none(choices.get(right))
    return text_or_none(question.get("answer"))


def _first_unseen(history: SourceHistory, asked_at: datetime | None, times: Times, where: str) -> TurnReference | None:
    """The first message of the day of the question that is later than it; None where there is none."""
    if asked_at is None:
        return None
    for session in history.sessions:
        if session.name == asked_at.date().isoformat():
            for turn in stored(session):
                if turn.position in times and times[turn.position] > asked_at:
                    return TurnReference(session.position, turn.position, f"{where}, time")
    return None


def _evidence(
    history: SourceHistory, request_id: str, given: Any, places: Places, where: str
) -> Iterator[TurnReference]:
    """The messages that target_step_id names, each once; what names none, or more than one, is put down as a note."""
    steps = given if isinstance(given, list) else [] if given is None else [given]
    for step in dict.fromkeys(as_name(step) for step in steps):
        found = places.get(step, []) if step is not None else []
        at = f"{where}, target_step_id {'' if step is None else shown(step)}"
        if len(found) == 1:
            yield TurnReference(*found[0], at)
        else:
            reason = f"the id stands at {len(found)} messages" if found else "it names no message"
            history.refuse(Code.CITATION, at, f"evidence: {reason}", 0, request_id)

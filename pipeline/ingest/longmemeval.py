"""LongMemEval: an array of items, each one haystack of sessions with one question, or a list of questions over it.

A history is one item; its history_id is question_id (joined with + where that is a list). Session ids give the answer
away, so they reach `source_session` and nothing else. Evidence is what `has_answer` marks, of either role.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipeline.ingest.codes import Code
from pipeline.ingest.dialogue import text_or_none
from pipeline.ingest.options import Options
from pipeline.ingest.records import items, wanted
from pipeline.ingest.sample import Sample
from pipeline.ingest.source import (
    Document,
    Refused,
    SourceHistory,
    SourceRequest,
    SourceSession,
    SourceTurn,
    TurnReference,
)
from pipeline.ingest.times import TimeError, parse_longmemeval_time

_OF_SESSIONS = ("haystack_dates", "haystack_session_ids")
_OF_QUESTIONS = ("question", "question_id", "question_date", "question_type", "answer")


def read(document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    """Histories of a LongMemEval file, one at a time. Raises IngestError when it is not a JSON array."""
    for record in items(document):
        history_id, ids = _ids(record.value)
        if wanted(document, record, [*ids, history_id or ""], options):
            yield _history(record.position, record.value, history_id, ids)


def recognises(sample: Sample) -> bool:
    """An array of objects with a question and haystack_sessions."""
    return sample.shape == "array" and sample.all_have("question", "haystack_sessions")


def _history(position: int, item: Any, history_id: str | None, ids: list[str]) -> SourceHistory | Refused:
    place = f"item {position}"
    problem = _problem(item, ids)
    if problem is not None or history_id is None:
        return Refused(Code.WRONG_SHAPE, place, problem or "key question_id is missing", _rows(item), history_id)
    history = SourceHistory(history_id, position)
    flagged = list(_sessions(history, item, place))
    _requests(history, item, ids, flagged, place)
    return history


def _problem(item: Any, ids: list[str]) -> str | None:
    """Why the item as a whole cannot be read."""
    if not isinstance(item, dict):
        return "it is not an object"
    missing = [key for key in ("question_id", "question", "haystack_sessions") if item.get(key) in (None, "", [])]
    if missing:
        return f"key {missing[0]} is missing or empty"
    return _session_problem(item) or _question_problem(item, ids)


def _session_problem(item: dict[str, Any]) -> str | None:
    sessions = item["haystack_sessions"]
    if not isinstance(sessions, list):
        return "key haystack_sessions is not a list"
    for key in _OF_SESSIONS:
        values = item.get(key)
        if values is not None and (not isinstance(values, list) or len(values) != len(sessions)):
            held = f"{len(values)} values" if isinstance(values, list) else "no list"
            return f"key {key} holds {held}, but there are {len(sessions)} sessions"
    return None


def _question_problem(item: dict[str, Any], ids: list[str]) -> str | None:
    questions = len(_as_list(item["question"]))
    if len(ids) != questions:
        return f"key question_id holds {len(ids)} values, but there are {questions} questions"
    if len(set(ids)) < len(ids):
        return "key question_id names two questions alike"
    if isinstance(item["question"], list):
        for key in _OF_QUESTIONS:
            values = item.get(key)
            if isinstance(values, list) and len(values) != questions:
                return f"key {key} holds {len(values)} values, but there are {questions} questions"
    return None


def _sessions(history: SourceHistory, item: dict[str, Any], place: str) -> Iterator[TurnReference]:
    """Adds the sessions; yields a reference to each turn that is marked has_answer, also to those that are refused:
    a request must not be taken for complete without them."""
    count = len(item["haystack_sessions"])
    dates = item.get("haystack_dates") or [None] * count
    names = item.get("haystack_session_ids") or [None] * count
    for position, (session, date, name) in enumerate(zip(item["haystack_sessions"], dates, names, strict=True)):
        where = f"{place}, session {position}"
        if not isinstance(session, list):
            history.refuse(Code.BAD_SESSION, where, "the session is not a list of turns")
            continue
        try:
            time = parse_longmemeval_time(date)
        except TimeError as error:
            history.refuse(Code.BAD_TIME, where, str(error), max(1, len(session)))
            yield from _marked(session, position, where)
            continue
        turns = []
        for turn_position, turn in enumerate(session):
            read_turn = _turn(turn_position, turn)
            if isinstance(read_turn, str):
                history.refuse(Code.BAD_TURN, f"{where}, turn {turn_position}", read_turn)
            else:
                turns.append(read_turn)
        history.sessions.append(SourceSession(position, None if name is None else str(name), time, turns))
        yield from _marked(session, position, where)


def _marked(session: list[Any], position: int, where: str) -> Iterator[TurnReference]:
    for turn_position, turn in enumerate(session):
        if isinstance(turn, dict) and turn.get("has_answer") is True:
            yield TurnReference(position, turn_position, f"{where}, turn {turn_position}, has_answer")


def _turn(position: int, turn: Any) -> SourceTurn | str:
    """The turn, or why it cannot be read."""
    if not isinstance(turn, dict):
        return "the turn is not an object"
    role = turn.get("role")
    if not isinstance(role, str) or not role.strip():
        return "the turn has no role"
    text = _content(turn.get("content"))
    return "content is neither text nor a list of parts" if text is None else SourceTurn(position, role, text)


def _content(content: Any) -> str | None:
    """Text of a message: null is blank, of a list of parts those of text are joined by line breaks."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return None
    parts = [part.get("text") if isinstance(part, dict) else part for part in content]
    return "\n".join(part for part in parts if isinstance(part, str))


def _requests(
    history: SourceHistory, item: dict[str, Any], ids: list[str], flagged: list[TurnReference], place: str
) -> None:
    values = {key: _spread(item.get(key), len(ids)) for key in _OF_QUESTIONS}
    evidence = _evidence(history, item, ids, flagged, place)
    for position, request_id in enumerate(ids):
        where = f"{place}, question {position}"
        text = values["question"][position]
        if not isinstance(text, str) or not text.strip():
            history.refuse(Code.BAD_REQUEST, where, "the question has no text", 1, request_id)
            continue
        try:
            asked_at = parse_longmemeval_time(values["question_date"][position])
        except TimeError as error:
            history.refuse(Code.BAD_TIME, where, f"question_date: {error}", 1, request_id)
            continue
        adversarial = "_abs" in request_id
        request = SourceRequest(
            position,
            request_id,
            text,
            asked_at=asked_at,
            category=text_or_none(values["question_type"][position]),
            answer=text_or_none(values["answer"][position]),
            adversarial=adversarial,
            evidence=() if adversarial else tuple(evidence[position]),
        )
        history.requests.append(request)


def _evidence(
    history: SourceHistory, item: dict[str, Any], ids: list[str], flagged: list[TurnReference], place: str
) -> list[list[TurnReference]]:
    """Marked turns of each question.

    With several questions a mark does not say whose evidence it is; only a list of answer sessions for each does.
    """
    if len(ids) == 1:
        return [flagged]
    if not flagged:
        return [[] for _ in ids]
    answers, names = item.get("answer_session_ids"), item.get("haystack_session_ids")
    of_each = isinstance(answers, list) and len(answers) == len(ids) and all(isinstance(one, list) for one in answers)
    if not of_each or not answers or not names:
        history.refuse(
            Code.NO_LABELS, place, "has_answer cannot be given to one of several questions: no labels", weight=0
        )
        return [[] for _ in ids]
    return [[cited for cited in flagged if names[int(cited.session)] in wanted] for wanted in answers]


def _ids(item: Any) -> tuple[str | None, list[str]]:
    """The history's id and one id a question. A single id over several questions is numbered."""
    given = item.get("question_id") if isinstance(item, dict) else None
    if given in (None, "", []):
        return None, []
    if isinstance(given, list):
        return "+".join(map(str, given)), [str(value) for value in given]
    count = len(_as_list(item.get("question")))
    return str(given), [str(given)] if count == 1 else [f"{given}#q{index}" for index in range(count)]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _spread(value: Any, count: int) -> list[Any]:
    """One value a question: a list as it is, anything else repeated."""
    return value if isinstance(value, list) and len(value) == count else [value] * count


def _rows(item: Any) -> int:
    """Rows that are lost with an item: its turns and questions."""
    if not isinstance(item, dict):
        return 1
    sessions = item.get("haystack_sessions")
    turns = sum(len(session) for session in sessions if isinstance(session, list)) if isinstance(sessions, list) else 0
    return turns + len(_as_list(item.get("question")))

"""LoCoMo: an array of conversations of two people, each with its questions.

A history is one conversation; its history_id is sample_id, or its position in the array. Of an image its caption is
kept with the turn's text; the search phrase it was found by (`query`) tells what the question will be, and is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pipeline.ingest.codes import Code
from pipeline.ingest.json_items import json_items
from pipeline.ingest.options import Options
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
from pipeline.ingest.times import TimeError, parse_locomo_time

ADVERSARIAL = "5"
"""The category of questions that the conversation does not answer."""

_SESSION = re.compile(r"session_(\d+)")
_BETWEEN = re.compile(r"[;,\s]+")
_DIALOGUE_ID = re.compile(r"D:?0*(\d+):0*(\d+)\.*", re.IGNORECASE)

Place = tuple[int, int]


def read(document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    """Histories of a LoCoMo file, one at a time. Raises IngestError when it is not a JSON array."""
    for position, item in enumerate(json_items(document.stream)):
        sample = item.get("sample_id") if isinstance(item, dict) else None
        history_id = str(position) if sample in (None, "") else str(sample)
        if options.items.wants(position, [history_id]):
            yield _history(position, item, history_id)


def recognises(sample: Sample) -> bool:
    """An array of objects that each hold a conversation."""
    return sample.shape == "array" and sample.all_have("conversation")


def _history(position: int, item: Any, history_id: str) -> SourceHistory | Refused:
    place = f"item {position}"
    if not isinstance(item, dict) or not isinstance(item.get("conversation"), dict):
        return Refused(Code.WRONG_SHAPE, place, "key conversation is missing or not an object", 1, history_id)
    history = SourceHistory(history_id, position)
    places = _sessions(history, item["conversation"], place)
    questions = item.get("qa") or []
    if not isinstance(questions, list):
        history.refuse(Code.WRONG_SHAPE, place, "key qa is not a list")
        return history
    for index, question in enumerate(questions):
        _request(history, index, question, places, f"{place}, question {index}")
    return history


def _sessions(history: SourceHistory, conversation: dict[str, Any], place: str) -> dict[str, list[Place]]:
    """Adds the sessions in the order of their numbers; the places of turns by their id, leading zeros dropped."""
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    places: dict[str, list[Place]] = {}
    for position, number in enumerate(numbers):
        name = f"session_{number}"
        session, where = conversation[name], f"{place}, {name}"
        if not isinstance(session, list):
            history.refuse(Code.BAD_SESSION, where, "the session is not a list of turns")
            continue
        try:
            time = parse_locomo_time(conversation.get(f"{name}_date_time"))
        except TimeError as error:
            history.refuse(Code.BAD_TIME, where, str(error), max(1, len(session)))
            continue
        turns = []
        for turn_position, raw in enumerate(session):
            turn = _turn(turn_position, raw)
            if isinstance(turn, str):
                history.refuse(Code.BAD_TURN, f"{where}, turn {turn_position}", turn)
                continue
            turns.append(turn)
            named = _DIALOGUE_ID.fullmatch(turn.name or "")
            if named:
                places.setdefault(f"D{named[1]}:{named[2]}", []).append((position, turn_position))
        history.sessions.append(SourceSession(position, name, time, turns))
    return places


def _turn(position: int, turn: Any) -> SourceTurn | str:
    """The turn, or why it cannot be read. Both speakers are people: the role is user."""
    if not isinstance(turn, dict):
        return "the turn is not an object"
    text, caption, speaker, name = (turn.get(key) for key in ("text", "blip_caption", "speaker", "dia_id"))
    if not all(value is None or isinstance(value, str) for value in (text, caption, speaker, name)):
        return "text, blip_caption, speaker and dia_id must be text"
    return SourceTurn(position, "user", _with_caption(text or "", caption or ""), speaker or None, name or None)


def _with_caption(text: str, caption: str) -> str:
    if not caption.strip():
        return text
    return f"{text} [{caption}]" if text.strip() else f"[{caption}]"


def _request(history: SourceHistory, index: int, question: Any, places: dict[str, list[Place]], where: str) -> None:
    request_id = f"{history.history_id}#q{index}"
    text = question.get("question") if isinstance(question, dict) else None
    if not isinstance(text, str) or not text.strip():
        history.refuse(Code.BAD_REQUEST, where, "the question has no text", 1, request_id)
        return
    category, answer = question.get("category"), question.get("answer")
    history.requests.append(
        SourceRequest(
            index,
            request_id,
            text,
            category=None if category is None else str(category),
            answer=None if answer is None else str(answer),
            adversarial=str(category) == ADVERSARIAL,
            evidence=tuple(_evidence(history, request_id, question.get("evidence"), places, where)),
        )
    )


def _evidence(
    history: SourceHistory, request_id: str, given: Any, places: dict[str, list[Place]], where: str
) -> Iterator[TurnReference]:
    """The turns that the evidence names, each once; what names none, or more than one, is put down as a note.

    Real files hold `D8:6; D9:17`, `D9:1 D4:4`, `D30:05`, `D:11:26`, `D` and ids of turns that do not exist.
    """
    strings = given if isinstance(given, list) else [] if given is None else [given]
    words = [word for string in strings for word in _BETWEEN.split(str(string)) if word]
    for word in dict.fromkeys(words):
        at = f"{where}, evidence {word}"
        named = _DIALOGUE_ID.fullmatch(word)
        found = places.get(f"D{named[1]}:{named[2]}", []) if named else []
        if len(found) == 1:
            yield TurnReference(*found[0], at)
        else:
            reason = f"the id stands at {len(found)} turns" if found else "it names no turn"
            history.refuse(Code.CITATION, at, f"evidence: {reason}", 0, request_id)

"""What LoCoMo and REALTALK share: sessions under numbered keys, dialogue ids, questions that cite them.

Captions and answers (`with_caption`, `text_or_none`) are written so by other formats too.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pipeline.ingest.codes import Code
from pipeline.ingest.messages import MessageError, as_object, json_text, turns_of
from pipeline.ingest.quoting import quoted
from pipeline.ingest.source import SourceHistory, SourceRequest, SourceSession, SourceTurn, TurnReference
from pipeline.ingest.times import TimeError

SESSION = re.compile(r"session_(\d{1,9})", re.ASCII)
"""The key of a session, with its number."""
_ID = r"D:?0*(\d{1,9}):0*(\d{1,9})"
_DIALOGUE_ID = re.compile(rf"{_ID}\.*", re.ASCII | re.IGNORECASE)
# An id, or the first and the last of a range.
_CITED = re.compile(rf"\b{_ID}\b(?!:?\d)\.*(?:\s*[-\u2013\u2014]\s*{_ID}\b(?!:?\d))?", re.ASCII | re.IGNORECASE)
_BETWEEN = re.compile(r"[\s;,:.()\[\]'\"]+")
_LONGEST_EVIDENCE = 10_000
MOST_IN_RANGE = 100
"""Turns of a range: the end of a longer one is a slip of the pen, and what lies between is no evidence."""
_NAMES_NONE = "it names no turn"

Place = tuple[int, int]
"""Position of a session in its history, and of a turn in its session."""
Meant = tuple[Place, ...] | str
"""The turns that a citation means, or why it means none."""


class DialogueIds:
    """Where the turns stand that bear dialogue ids, such as `D3:12`. Leading zeros do not count.

    The first number is no more than a part of the id: in REALTALK it is not that of the turn's session.
    """

    def __init__(self) -> None:
        self._places: dict[tuple[int, int], list[Place]] = {}
        self._in_order: list[tuple[int, int]] | None = None

    def add(self, name: str, place: Place) -> None:
        """Puts down a turn; a name that is no dialogue id names nothing."""
        named = _DIALOGUE_ID.fullmatch(name)
        if named:
            self._places.setdefault((int(named[1]), int(named[2])), []).append(place)
            self._in_order = None

    def cited(self, text: str) -> Iterator[tuple[str, Meant]]:
        """Each citation in a text, as it is written, with the places that it means or why it means none.

        A range means all turns from its first to its last id that are there, unless they are too many. What stands
        between citations and is more than punctuation is yielded as one that means none.
        """
        if len(text) > _LONGEST_EVIDENCE:
            yield quoted(text), "it is too long to be a list of ids"
            return
        for match in _CITED.finditer(text):
            yield match[0], self._meant(*(int(part) if part else None for part in match.groups()))
        if _BETWEEN.sub("", _CITED.sub(" ", text)):
            yield quoted(text), "it names no turn, or not only turns"

    def _meant(self, group: int | None, number: int | None, to_group: int | None, to: int | None) -> Meant:
        first = (group or 0, number or 0)
        if to_group is None:
            found = self._places.get(first, [])
            return tuple(found) if len(found) == 1 else f"the id stands at {len(found)} turns" if found else _NAMES_NONE
        if self._in_order is None:
            self._in_order = sorted(self._places)
        start = bisect.bisect_left(self._in_order, first)
        end = bisect.bisect_right(self._in_order, (to_group, to or 0))
        if end - start > MOST_IN_RANGE:
            return f"a range of {end - start} ids is no evidence"
        return tuple(place for name in self._in_order[start:end] for place in self._places[name]) or _NAMES_NONE


def add_sessions(
    history: SourceHistory,
    container: Mapping[str, Any],
    prefix: str,
    text_keys: Sequence[str],
    time_of: Callable[[str, list[Any]], datetime | None],
) -> DialogueIds:
    """Adds the sessions that stand under `session_N`, in the order of their numbers; the ids of their turns.

    The text of a turn is under the first of `text_keys` that it has. `time_of` gives a session's time from its name and
    turns, and may raise TimeError. `prefix` begins places.
    """
    ids = DialogueIds()
    numbered = sorted((int(match[1]), name) for name in container if (match := SESSION.fullmatch(name)))
    for position, (_, name) in enumerate(numbered):
        session, where = container[name], f"{prefix}{name}"
        if not isinstance(session, list):
            history.refuse(Code.BAD_SESSION, where, "the session is not a list of turns")
            continue
        try:
            time = time_of(name, session)
        except TimeError as error:
            history.refuse(Code.BAD_TIME, where, str(error), max(1, len(session)))
            continue
        turns = turns_of(history, session, where, lambda at, turn: _turn(at, turn, text_keys))
        history.sessions.append(SourceSession(position, name, time, turns))
        for turn in turns:
            ids.add(turn.name or "", (position, turn.position))
    return ids


def add_requests(
    history: SourceHistory, questions: Any, ids: DialogueIds, prefix: str, adversarial: str | None = None
) -> None:
    """Adds the questions, of which those of category `adversarial` have no answer in the conversation."""
    if not isinstance(questions, list):
        history.refuse(Code.WRONG_SHAPE, f"{prefix}qa", "key qa is not a list")
        return
    for index, question in enumerate(questions):
        where, request_id = f"{prefix}question {index}", f"{history.history_id}#q{index}"
        text = question.get("question") if isinstance(question, dict) else None
        if not isinstance(text, str) or not text.strip():
            history.refuse(Code.BAD_REQUEST, where, "the question has no text", 1, request_id)
            continue
        category = text_or_none(question.get("category"))
        evidence = tuple(_evidence(history, request_id, question.get("evidence"), ids, where))
        request = SourceRequest(
            index,
            request_id,
            text,
            category=category,
            answer=text_or_none(question.get("answer")),
            adversarial=adversarial is not None and category == adversarial,
            evidence=evidence,
        )
        history.requests.append(request)


def with_caption(text: str, caption: str) -> str:
    """A text with what stands beside it, in brackets."""
    if not caption.strip():
        return text
    return f"{text} [{caption}]" if text.strip() else f"[{caption}]"


def text_or_none(value: Any) -> str | None:
    """Text as it is, any other value as JSON: answers may be numbers, and once in a while structures."""
    if value is None or isinstance(value, str):
        return value
    try:
        return json_text(value)
    except MessageError:
        return None


def _turn(position: int, value: Any, text_keys: Sequence[str]) -> SourceTurn:
    """Both speakers are people: the role is user. Raises MessageError."""
    turn = as_object(value)
    key = next((key for key in text_keys if turn.get(key) is not None), text_keys[0])
    text, caption, speaker, name = (turn.get(of) for of in (key, "blip_caption", "speaker", "dia_id"))
    if not all(value is None or isinstance(value, str) for value in (text, caption, speaker, name)):
        raise MessageError(f"{key}, blip_caption, speaker and dia_id must be text")
    return SourceTurn(position, "user", with_caption(text or "", caption or ""), speaker or None, name or None)


def _evidence(
    history: SourceHistory, request_id: str, given: Any, ids: DialogueIds, where: str
) -> Iterator[TurnReference]:
    """The turns that the evidence names, each once; what names none, or more than one, is put down as a note.

    Real files hold `D8:6; D9:17`, `D9:1 D4:4`, `D30:05`, `D:11:26`, `D`, `D5:3.`, `D14:8-D14:13;D15:16-D15:20`,
    `D13:45:D20:19` and ids of turns that do not exist.
    """
    strings = given if isinstance(given, list) else [] if given is None else [given]
    texts = [string if isinstance(string, str) else f"of type {type(string).__name__}" for string in strings]
    cited: dict[Place, TurnReference] = {}
    for written, meant in dict.fromkeys(found for text in texts for found in ids.cited(text)):
        at = f"{where}, evidence {written}"
        if isinstance(meant, str):
            history.refuse(Code.CITATION, at, f"evidence: {meant}", 0, request_id)
            continue
        for place in meant:
            cited.setdefault(place, TurnReference(*place, at))
    yield from cited.values()

"""From histories as their source tells them to staged tables: sanitised, keyed, digested, blank turns dropped."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa

from pipeline.ingest.arrival import CITATIONS, STAGED_REQUESTS, STAGED_TURNS, Arrival
from pipeline.ingest.codes import Code
from pipeline.ingest.quoting import shown
from pipeline.ingest.source import Refused, SourceHistory, SourceRequest, SourceSession, TurnReference
from pipeline.schemas import QUARANTINE
from pipeline.text import sanitise_name, sanitise_text

LONGEST_ID = 20_000
"""Characters of the id of a history, a session or a request. It stands in many rows: what is longer is no id."""

_ROW = 250
"""About what a row takes beside its text, in characters."""
_TOO_LONG = f"its id is longer than {LONGEST_ID} characters"

Row = dict[str, Any]
Reference = dict[str, str]
"""The columns of CITATIONS that name a turn; those left out are null."""


@dataclass
class _Session:
    """The keys of one staged session: its turns by position and by the source's name."""

    key: str
    by_position: dict[int, tuple[str, str]] = field(default_factory=dict)
    by_name: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def find(self, turn: int | str) -> list[tuple[str, str]]:
        """(turn_key, content_digest) of the turns that `turn` may mean."""
        if isinstance(turn, str):
            return self.by_name.get(turn, [])
        return [self.by_position[turn]] if turn in self.by_position else []


class Staging:
    """Collects the histories of a source, file by file, and hands them over in arrivals.

    Items count on from file to file, so that their order is that of the source.
    """

    def __init__(self, source_format: str) -> None:
        self._format = source_format
        self._file = ""
        self._first_item = 0
        self._next_item = 0
        self._empty()

    def _empty(self) -> None:
        self.characters = 0
        self._turns: list[Row] = []
        self._requests: list[Row] = []
        self._citations: list[Row] = []
        self._quarantine: list[Row] = []
        self._counts: Counter[str] = Counter()

    def begin(self, file: str) -> None:
        """What is added from now on comes from this file."""
        self._file = sanitise_name(file)
        self._first_item = self._next_item
        self._counts["files"] += 1

    def add(self, history: SourceHistory) -> None:
        """Stages one item. What has an id without end is refused, and a request whose last seen turn is not there."""
        history_id = self._name(history.history_id)
        item = self._first_item + history.item
        self._next_item = max(self._next_item, item + 1)
        self._counts["items"] += 1
        for refused in history.refused:
            self.refuse(refused)
        if len(history_id) > LONGEST_ID:
            lost = sum(len(session.turns) for session in history.sessions) + len(history.requests)
            self.refuse(Refused(Code.WRONG_SHAPE, f"item {history.item}", _TOO_LONG, lost))
            return
        sessions: dict[int | str, list[_Session]] = {}
        occurrences: Counter[tuple[str | int, datetime | None]] = Counter()
        for session in history.sessions:
            # A source without ids tells its sessions apart by where they stand.
            name = self._name(session.name or "") or None
            if name is not None and len(name) > LONGEST_ID:
                place = f"item {history.item}, session {session.position}"
                self.refuse(Refused(Code.BAD_SESSION, place, _TOO_LONG, len(session.turns), history_id))
                continue
            identity = (name or session.position, session.told_by)
            # One that is empty counts too: it may fill up in a later delivery.
            staged = self._add_session(item, history_id, session, name, occurrences[identity])
            occurrences[identity] += 1
            sessions[session.position] = [staged]
            if name is not None:
                sessions.setdefault(name, []).append(staged)
        for request in history.requests:
            self._add_request(item, history_id, request, sessions)

    def refuse(self, refused: Refused) -> None:
        """Puts down what a reader could not read."""
        self.characters += _ROW + sum(len(text) for text in (refused.reason, refused.place, refused.history_id or ""))
        self._quarantine.append(
            {
                "history_id": self._id_or_none(refused.history_id),
                "request_id": self._id_or_none(refused.request_id),
                "file": self._file,
                "place": self._clean(refused.place),
                "code": refused.code.value,
                "reason": self._clean(refused.reason),
                "origin": "row",
                "weight": refused.weight,
            }
        )

    def take(self) -> Arrival:
        """Everything staged since the last time."""
        taken = Arrival(
            _table(self._turns, STAGED_TURNS),
            _table(self._requests, STAGED_REQUESTS),
            _table(self._citations, CITATIONS),
            _table(self._quarantine, QUARANTINE),
            dict(self._counts),
        )
        self._empty()
        return taken

    def _add_session(
        self, item: int, history_id: str, session: SourceSession, name: str | None, occurrence: int
    ) -> _Session:
        position = session.position if name is None else None
        time = None if session.told_by is None else session.told_by.isoformat()
        staged = _Session(_digest("session", name, position, time, occurrence))
        kept = 0
        for turn in session.turns:
            text = self._clean(turn.text)
            if not text.strip():
                self._counts["blank_turns"] += 1
                continue
            role, speaker = self._clean(turn.role), self._clean_or_none(turn.speaker)
            turn_name = self._name(turn.name or "") or None
            key = turn_key(turn_name or turn.position, len(staged.by_name.get(turn_name or "", ())))
            found = (key, _digest("turn", role, speaker, text))
            staged.by_position[turn.position] = found
            if turn_name is not None:
                staged.by_name.setdefault(turn_name, []).append(found)
            self._turns.append(
                {
                    "history_id": history_id,
                    "item": item,
                    "file": self._file,
                    "file_item": item - self._first_item,
                    "session_position": session.position,
                    "turn_position": turn.position,
                    "session_key": staged.key,
                    "turn_key": found[0],
                    "content_digest": found[1],
                    "session_time": session.time,
                    "source_format": self._format,
                    "source_session": name,
                    "source_turn": turn_name,
                    "role": role,
                    "speaker": speaker,
                    "text": text,
                }
            )
            self.characters += _ROW + len(text)
            kept += 1
        self._counts["empty_sessions"] += kept == 0
        return staged

    def _add_request(
        self,
        item: int,
        history_id: str,
        request: SourceRequest,
        sessions: dict[int | str, list[_Session]],
    ) -> None:
        request_id = self._name(request.request_id)
        names = {
            "history_id": history_id,
            "request_id": request_id,
            "item": item,
            "file": self._file,
            "request_position": request.position,
        }
        if len(request_id) > LONGEST_ID:
            place = f"item {item - self._first_item}, request {request.position}"
            self.refuse(Refused(Code.BAD_REQUEST, place, _TOO_LONG, 1, history_id))
            return
        seen: Reference = {}
        if request.seen is not None:
            resolved = self._reference(request.seen, sessions)
            if isinstance(resolved, str):
                reason = f"last seen turn: {resolved}"
                self.refuse(Refused(Code.UNKNOWN_SEEN, request.seen.place, reason, 1, history_id, request_id))
                return
            seen = resolved
        self.characters += _ROW * (1 + len(request.evidence)) + len(request.text)
        self._requests.append(
            {
                **names,
                "file_item": item - self._first_item,
                "mode": request.mode,
                "text": self._clean(request.text),
                "asked_at": request.asked_at,
                "category": self._clean_or_none(request.category),
                "answer": self._clean_or_none(request.answer),
                "adversarial": request.adversarial,
                "seen_before": request.seen_before,
                **{f"seen_{column}": value for column, value in seen.items()},
            }
        )
        for cited in request.evidence:
            resolved = self._reference(cited, sessions)
            if isinstance(resolved, str):
                self.refuse(Refused(Code.CITATION, cited.place, f"evidence: {resolved}", 0, history_id, request_id))
            else:
                self._citations.append({**names, "place": self._clean(cited.place), **resolved})

    def _reference(self, cited: TurnReference, sessions: dict[int | str, list[_Session]]) -> Reference | str:
        """The columns that name a turn, or why none is meant.

        Sessions of one name are told apart by the turn's id, where only one of them has it; a position may mean a turn
        of each.
        """
        session = sanitise_name(cited.session) if isinstance(cited.session, str) else cited.session
        turn = sanitise_name(cited.turn) if isinstance(cited.turn, str) else cited.turn
        candidates = sessions.get(session, [])
        holding = [staged for staged in candidates if isinstance(turn, int) or staged.find(turn)]
        if len(holding) > 1:
            which = "" if isinstance(turn, int) else f", and have a turn {shown(turn)!r}"
            return f"{len(holding)} sessions are called {shown(str(session))!r}{which}"
        turns = holding[0].find(turn) if holding else []
        if len(turns) > 1:
            return f"{len(turns)} turns of the session are called {shown(str(turn))!r}"
        if turns:
            return {"session_key": holding[0].key, "turn_key": turns[0][0], "content_digest": turns[0][1]}
        if isinstance(session, str):  # it may have come with an earlier delivery
            return {"source_session": session, "turn_key": turn_key(turn, 0)}
        return "there is no such turn"

    def _clean(self, text: str) -> str:
        clean = sanitise_text(text)
        self._counts["sanitised_texts"] += clean is not text
        return clean

    def _name(self, name: str) -> str:
        clean = sanitise_name(name)
        self._counts["sanitised_texts"] += clean is not name
        return clean

    def _id_or_none(self, name: str | None) -> str | None:
        """An id as a row of the quarantine may hold it."""
        return None if name is None or len(name) > LONGEST_ID else self._name(name)

    def _clean_or_none(self, text: str | None) -> str | None:
        return None if text is None else self._clean(text)


def turn_key(turn: int | str, occurrence: int) -> str:
    """The turn_key of a turn: by its position in its session, or by its id, which `occurrence` turns before it bear."""
    return f"p{turn}" if isinstance(turn, int) else f"i{occurrence}:{turn}"


def _digest(*parts: str | int | None) -> str:
    """128 bits of BLAKE2b over the parts, told apart by JSON."""
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def _table(rows: list[Row], schema: pa.Schema) -> pa.Table:
    """The rows as a table; a column that a row does not name is null."""
    return pa.Table.from_pylist(rows, schema=schema)

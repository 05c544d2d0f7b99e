"""Records that are sessions: the history each belongs to, its name and its time stand under keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pipeline.ingest.asking import asked_by_user
from pipeline.ingest.codes import Code
from pipeline.ingest.errors import IngestError
from pipeline.ingest.options import Options, Requests
from pipeline.ingest.source import SourceHistory, SourceSession, SourceTurn
from pipeline.ingest.times import TimeError, parse_epoch_or_iso_time

NAME_CHARACTERS = 1_000
"""What is longer is no name: one stands in the row of every turn."""


class MissingKeyError(ValueError):
    """A key leads to nothing that can be a name; the message says which."""


@dataclass
class Keys:
    """Where a record says its history, session and time: the one key that was given, or the usual ones in turn.

    A key is a name, or a path of names and list positions with dots: `user.id`, `messages.0.created_at`.
    """

    history: Sequence[str]
    session: Sequence[str]
    time: Sequence[str]
    given: frozenset[str]
    _without_time: int = field(default=0, init=False)
    _with_time: int = field(default=0, init=False)

    @classmethod
    def of(
        cls,
        options: Options,
        history: Sequence[str] = (),
        session: Sequence[str] | None = None,
        time: Sequence[str] | None = None,
    ) -> Keys:
        """The keys that were given, else those named here. Raises IngestError for a key given and None here: the format
        takes it from elsewhere."""
        usual = {"history": history, "session": session, "time": time}
        for what in options.keys:
            if usual[what] is None:
                raise IngestError(
                    f"--key {what}={options.keys[what]}: the format has its {what} from elsewhere, and takes no key "
                    "for it"
                )
        chosen = {what: (options.keys[what],) if what in options.keys else keys or () for what, keys in usual.items()}
        return cls(**chosen, given=frozenset(options.keys))

    def history_id(self, record: Any) -> str | None:
        """The history; None where no usual key is there. Raises MissingKeyError for what is there and no name, or for a
        key that was given and is not there: the record must not get into another history."""
        for key in self.history:
            value = look_up(record, key)
            if value is None or value == "":
                continue
            name = as_name(value)
            if name is None:
                raise MissingKeyError(f"key {key} holds no name: say with --key history=... where the history is named")
            return name
        if "history" in self.given:
            raise MissingKeyError(f"key {self.history[0]}, which names the history, is missing")
        return None

    def session_name(self, record: Any) -> str | None:
        """The source's name of the session; None where no usual key holds one.

        Raises MissingKeyError for a key that was given and holds none.
        """
        for key in self.session:
            name = as_name(look_up(record, key))
            if name is not None:
                return name
        if "session" in self.given:
            raise MissingKeyError(f"key {self.session[0]}, which names the session, is missing or no name")
        return None

    def session_time(self, record: Any) -> datetime | None:
        """The time, None where there is none. Raises TimeError where it cannot be parsed."""
        for key in self.time:
            time = parse_epoch_or_iso_time(look_up(record, key))
            if time is not None:
                self._with_time += 1
                return time
        self._without_time += 1
        return None

    def require_found(self) -> None:
        """Raises IngestError when a document has ended and the key given for the time was in none of its records: a
        misspelt one must not make every session undated."""
        if "time" in self.given and self._without_time and not self._with_time:
            raise IngestError(f"--key time={self.time[0]}: no record holds this key, which was given for the time")


def add_session(
    history: SourceHistory,
    record: Any,
    turns: list[SourceTurn],
    place: str,
    keys: Keys,
    otherwise: str,
    requests: Requests,
) -> None:
    """Adds a record's session and what is asked in it; `otherwise` is its name where the record has none.

    Without a name that was to be there, or with a time that cannot be parsed, the session is refused.
    """
    position, weight = len(history.sessions), max(1, len(turns))
    try:
        name, time = keys.session_name(record), keys.session_time(record)
    except MissingKeyError as error:
        history.refuse(Code.BAD_SESSION, place, str(error), weight)
        return
    except TimeError as error:
        history.refuse(Code.BAD_TIME, place, str(error), weight)
        return
    session = SourceSession(position, name or otherwise, time, turns)
    history.sessions.append(session)
    # The source's name may come again with another time: that is another session, with requests of its own.
    prefix = f"{name}@{time.replace(tzinfo=None).isoformat()}" if name and time else name or otherwise
    history.requests += asked_by_user(session, requests, prefix, place, len(history.requests))


def look_up(record: Any, key: str) -> Any:
    """What stands under a key or a path; None where nothing does."""
    if isinstance(record, dict) and key in record:
        return record[key]
    value = record
    for part in key.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isascii() and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def as_name(value: Any) -> str | None:
    """Text that is not blank and at most NAME_CHARACTERS long, or a whole number as text; None for anything else."""
    if isinstance(value, str):
        return value if value.strip() and len(value) <= NAME_CHARACTERS else None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None

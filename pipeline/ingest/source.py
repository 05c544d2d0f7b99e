"""A history as a source tells it: what every reader yields, before keys, digests and sanitising."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from pipeline.ingest.codes import Code

SUFFIXES = (".json", ".jsonl", ".ndjson", ".parquet", ".traj", ".af")
"""Of the files that may hold histories."""


@dataclass(frozen=True, slots=True)
class Document:
    """One file of a source: its bytes, uncompressed, and its name relative to the source.

    `lost` takes what is lost within records that are wanted, and read all the same.
    """

    stream: io.BufferedReader
    name: str
    lost: list[Refused] = field(default_factory=list)

    @classmethod
    def of(cls, stream: Any, name: str) -> Document:
        """A document of any binary stream."""
        return cls(stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream), name)

    @property
    def stem(self) -> str:
        """The name without its suffixes of kind (`run.traj.json`): what a history is called whose format has no id."""
        path = PurePosixPath(self.name)
        while path.suffix.lower() in SUFFIXES:
            path = path.with_suffix("")
        return str(path)


@dataclass(frozen=True, slots=True)
class SourceTurn:
    """One turn at its position in the source's session. `name` is the source's own id."""

    position: int
    role: str
    text: str
    speaker: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class SourceSession:
    """One session at its position in the source's item; `time` is UTC.

    Two sessions of a history that have one name are told apart by their times. Where a name is given to one session
    only (`one_of_its_name`), the name alone tells it: what is delivered of it later may begin at another time. The days
    of a conversation bear its name, and are told by that and by when it began (`conversation_time`): they are parts of
    one session, each at a time of its own.
    """

    position: int
    name: str | None
    time: datetime | None
    turns: list[SourceTurn]
    one_of_its_name: bool = False
    conversation_time: datetime | None = None

    @property
    def told_by(self) -> datetime | None:
        """The time that tells the session from others of its name; None where the name alone does."""
        return None if self.one_of_its_name else self.conversation_time or self.time


@dataclass(frozen=True, slots=True)
class TurnReference:
    """How a source points at a turn: int is a position in this item or session, str is the source's own id.

    `place` says where and how it is written.
    """

    session: int | str
    turn: int | str
    place: str


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """One request at its position in the item.

    `seen` is the last turn that it sees; with `seen_before` it is the first of those there that it does not see.
    """

    position: int
    request_id: str
    text: str
    mode: str = "reader"
    asked_at: datetime | None = None
    category: str | None = None
    answer: str | None = None
    adversarial: bool = False
    seen: TurnReference | None = None
    seen_before: bool = False
    evidence: tuple[TurnReference, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that could not be read, where it stood in its file and why.

    `weight` is how many rows are lost; 0 for a note. The reason may quote a few characters, never a text.
    """

    code: Code
    place: str
    reason: str
    weight: int = 1
    history_id: str | None = None
    request_id: str | None = None


@dataclass
class SourceHistory:
    """One item of a source. `refused` holds what of it could not be read; the rest is kept."""

    history_id: str
    item: int
    sessions: list[SourceSession] = field(default_factory=list)
    requests: list[SourceRequest] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)

    def refuse(self, code: Code, place: str, reason: str, weight: int = 1, request_id: str | None = None) -> None:
        """Puts down what could not be read of this history."""
        self.refused.append(Refused(code, place, reason, weight, self.history_id, request_id))

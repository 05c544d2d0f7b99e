"""A history as a source tells it: what every reader yields, before keys, digests and sanitising."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


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
    """One session at its position in the source's item; `time` is UTC."""

    position: int
    name: str | None
    time: datetime | None
    turns: list[SourceTurn]


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
    """One request at its position in the item. `seen` is the last turn that it sees."""

    position: int
    request_id: str
    text: str
    mode: str = "reader"
    asked_at: datetime | None = None
    category: str | None = None
    answer: str | None = None
    adversarial: bool = False
    seen: TurnReference | None = None
    evidence: tuple[TurnReference, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that could not be read, where it stood and why. `weight` is how many rows are lost; 0 for a note."""

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

    def refuse(self, place: str, reason: str, weight: int = 1, request_id: str | None = None) -> None:
        """Puts down what could not be read of this history."""
        self.refused.append(Refused(place, reason, weight, self.history_id, request_id))

"""Requests for logs that ask none themselves: what a memory would have been asked while the log was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import TypeVar

from pipeline.ingest.options import Requests
from pipeline.ingest.source import SourceRequest, SourceSession, SourceTurn, TurnReference
from pipeline.text import sanitise_text

T = TypeVar("T")

TASK_CHARACTERS = 2_000
"""How much of the task statement goes into the request of a step."""

STEP_CHARACTERS = 2_000
"""How much of the newest step, and of what was said since, goes into the request for the next one."""


def asked_by_user(
    session: SourceSession,
    requests: Requests,
    prefix: str,
    place: str,
    first: int = 0,
    times: Mapping[int, datetime] | None = None,
) -> Iterator[SourceRequest]:
    """A request for each message of the user (`every-step`) or the last (`last`), which sees all that was said before.

    Ids are `<prefix>#<id of the turn>`, or `<prefix>#t<position of the turn>` where it has none: a turn that comes
    again asks the same again, wherever it stands then. Positions of requests count from `first`. A turn that is among
    `times` (by position) was asked then, others when the session began.
    """
    turns = stored(session)
    names = _names(turns)
    said = [turn for turn in turns if turn.role == "user"]
    for number, turn in enumerate(_chosen(said, requests)):
        asked = [time for time in (session.time, (times or {}).get(turn.position)) if time is not None]
        yield SourceRequest(
            first + number,
            f"{prefix}#{names[turn.position]}",
            turn.text,
            asked_at=max(asked, default=None),
            seen=TurnReference(session.position, turn.position, f"{place}, turn {turn.position}"),
            seen_before=True,
        )


def asking(sessions: Sequence[SourceSession], requests: Requests) -> Sequence[SourceSession]:
    """Of the sessions of one chat, those of which asked_by_user makes requests: the last of the chat is one of all."""
    spoken = [session for session in sessions if any(turn.role == "user" for turn in stored(session))]
    return spoken if requests == "every-step" else spoken[-1:]


def asked_by_step(
    session: SourceSession, task: str, requests: Requests, prefix: str, place: str, under_way: bool = False
) -> Iterator[SourceRequest]:
    """A request for the step that follows each step (`every-step`) or the last (`last`), which sees all before it.

    Steps are the turns of the assistant; what others say between two steps is seen by the later one. While the
    newest step is `under_way`, the next one is not asked for yet. The text is the beginning of the
    task, and of the newest step and what was said since it the beginning and the end. Ids are
    `<prefix>#s<position of the last turn that is seen>`.
    """
    turns = stored(session)
    steps = [at for at, turn in enumerate(turns) if turn.role == "assistant"]
    moments = [turns[step:following] for step, following in pairwise([*steps, len(turns)])]
    moments = moments[:-1] if under_way else moments
    for number, newest in enumerate(_chosen(moments, requests)):
        seen = newest[-1].position
        news = _shortened("\n\n".join(turn.text for turn in newest))
        yield SourceRequest(
            number,
            f"{prefix}#s{seen}",
            f"{task[:TASK_CHARACTERS].strip()}\n\n{news}".strip(),
            mode="agent",
            asked_at=session.time,
            seen=TurnReference(session.position, seen, f"{place}, turn {seen}"),
        )


def stored(session: SourceSession) -> list[SourceTurn]:
    """The turns that are not blank once they are sanitised: no other can be named."""
    return [turn for turn in session.turns if sanitise_text(turn.text).strip()]


def _names(turns: Sequence[SourceTurn]) -> dict[int, str]:
    """What tells each turn from the others, by its position: its own id, counted on where it is given twice."""
    given: Counter[str] = Counter()
    names = {}
    for turn in turns:
        name = turn.name or f"t{turn.position}"
        names[turn.position] = f"{name}~{given[name]}" if given[name] else name
        given[name] += 1
    return names


def _shortened(text: str) -> str:
    """Beginning and end of a text: what was done stands at the one, how it went wrong at the other."""
    text = text.strip()
    if len(text) <= STEP_CHARACTERS:
        return text
    half = STEP_CHARACTERS // 2
    return f"{text[:half].rstrip()}\n[...]\n{text[-half:].lstrip()}"


def _chosen(given: list[T], requests: Requests) -> list[T]:
    return {"none": [], "last": given[-1:], "every-step": given}[requests]

"""Requests for logs that ask none themselves: what a memory would have been asked while the log was made."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.ingest.options import Requests
from pipeline.ingest.source import SourceRequest, SourceSession, SourceTurn, TurnReference

TASK_CHARACTERS = 2_000
"""How much of the task statement goes into the request of a step."""

STEP_CHARACTERS = 2_000
"""How much of the newest step goes into the request for the next one."""


def asked_by_user(
    session: SourceSession, requests: Requests, prefix: str, place: str, first: int = 0
) -> Iterator[SourceRequest]:
    """A request for each message of the user (`every-step`) or the last (`last`), which sees all that was said before.

    Ids are `<prefix>#t<position of the turn>`; positions of requests count from `first`.
    """
    asking = [turn for turn in session.turns if turn.role == "user" and turn.text.strip()]
    for number, turn in enumerate(_chosen(asking, requests)):
        yield SourceRequest(
            first + number,
            f"{prefix}#t{turn.position}",
            turn.text,
            asked_at=session.time,
            seen=TurnReference(session.position, turn.position, f"{place}, turn {turn.position}"),
            seen_before=True,
        )


def asked_by_step(
    session: SourceSession, task: str, requests: Requests, prefix: str, place: str, first: int = 0
) -> Iterator[SourceRequest]:
    """A request for the step that follows each step (`every-step`) or the last (`last`), which sees all up to there.

    Steps are the turns of the assistant. The text is the beginning of the task and of the newest step. Ids are
    `<prefix>#s<position of the newest step>`.
    """
    steps = [turn for turn in session.turns if turn.role == "assistant" and turn.text.strip()]
    for number, turn in enumerate(_chosen(steps, requests)):
        yield SourceRequest(
            first + number,
            f"{prefix}#s{turn.position}",
            f"{task[:TASK_CHARACTERS].strip()}\n\n{turn.text[:STEP_CHARACTERS].strip()}".strip(),
            mode="agent",
            asked_at=session.time,
            seen=TurnReference(session.position, turn.position, f"{place}, turn {turn.position}"),
        )


def _chosen(turns: list[SourceTurn], requests: Requests) -> list[SourceTurn]:
    return {"none": [], "last": turns[-1:], "every-step": turns}[requests]

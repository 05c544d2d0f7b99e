"""Whole histories, and many of them as one JSON array."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pipeline.synth.banks.events import Family
from pipeline.synth.banks.telling import ABSENT_ANSWERS
from pipeline.synth.calendar import session_times, stamp
from pipeline.synth.case import Case
from pipeline.synth.cases import draw_case
from pipeline.synth.dice import Dice
from pipeline.synth.event import draw_events, happened, happened_to_another, other_families
from pipeline.synth.placement import Draft, draft
from pipeline.synth.telling import Statement
from pipeline.synth.turns import turn_text

ABSENT = 0.06
"""Share of questions without an answer in their history."""
ASKED_EARLY = 0.04
"""Share of questions asked before the last sessions: what comes later must not reach their slate."""
NEAR = 8
"""Near misses of a question; one more for every `SESSIONS_PER_NEAR` sessions."""
SESSIONS_PER_NEAR = 8
BACKGROUND = 2
"""Facts of other families in a session, so that a fact told in passing is not by itself evidence."""
_DRAWS = 50
"""Tries to find a further question about something else."""


def history(seed: int, index: int, sessions: int, requests: int = 1) -> dict[str, Any]:
    """One LongMemEval-shaped item: a history of `sessions` sessions and one question, or a list of up to `requests`.

    Depends on nothing but its arguments. `has_answer` stands on every turn of the sessions that hold evidence and
    nowhere else; no session holds evidence of two questions, so that `answer_session_ids` tell whose it is. The id of a
    question without an answer ends in `_abs`. Session ids are neutral. There are fewer questions where the days of the
    history, or things to ask about, are used up. Raises ValueError when sessions < 1, requests < 1 or index < 0.
    """
    if sessions < 1 or requests < 1 or index < 0:
        raise ValueError(
            "a history needs at least one session, one request and an index from 0: "
            f"sessions={sessions}, requests={requests}, {index=}"
        )
    key = f"slatemill-synth/{seed}/{index}/{sessions}" + (f"/{requests}" if requests > 1 else "")
    dice = Dice(key)
    absent = [dice.chance(ABSENT) for _ in range(requests)]
    times = session_times(dice, sessions)
    asked = _asked(dice, absent, times)
    drafts = _drafts(dice, asked, sessions)
    answers = [one.answer(dice, times) for one in asked]
    digest = hashlib.sha256(key.encode()).hexdigest()
    ids = [f"{dice.below(1 << 32):08x}_{dice.between(1, 4)}" for _ in drafts]

    def of_each(values: list[Any]) -> Any:
        return values if requests > 1 else values[0]

    return {
        "question_id": of_each([_request_id(digest, place, one, requests) for place, one in enumerate(asked)]),
        "question_type": of_each([one.case.question_type for one in asked]),
        "question": of_each([one.case.question for one in asked]),
        "answer": of_each(answers),
        "question_date": of_each([stamp(_asked_at(dice, times, one.seen)) for one in asked]),
        "haystack_dates": [stamp(time) for time in times],
        "haystack_session_ids": ids,
        "haystack_sessions": [_session(dice, session) for session in drafts],
        "answer_session_ids": of_each([[ids[home] for home in one.homes] for one in asked]),
    }


def json_chunks(histories: int, sessions: int, seed: int, requests: int = 1) -> Iterator[bytes]:
    """The bytes of a JSON array of histories 0 to histories - 1, one history a line; at most one is in memory."""
    yield b"[\n"
    for index in range(histories):
        end = ",\n" if index + 1 < histories else "\n"
        yield (json.dumps(history(seed, index, sessions, requests), ensure_ascii=False) + end).encode()
    yield b"]\n"


@dataclass(frozen=True)
class _Asked:
    """A question of a history: how many sessions lie before it, and the sessions that hold its evidence (none: it is
    about what was never said)."""

    case: Case
    seen: int
    homes: tuple[int, ...]
    absent: bool

    def answer(self, dice: Dice, times: Sequence[datetime]) -> str:
        return dice.pick(ABSENT_ANSWERS) if self.absent else self.case.answer([times[home] for home in self.homes])


def _asked(dice: Dice, absent: Sequence[bool], times: Sequence[datetime]) -> list[_Asked]:
    """The questions: each about other things than those before it, its evidence on days of its own."""
    asked: list[_Asked] = []
    for without_answer in absent:
        seen = _seen_sessions(dice, len(times))
        taken = {home for one in asked for home in one.homes}
        days = [i for i in range(seen) if i == 0 or times[i].date() > times[i - 1].date()]
        free = [day for day in days if day not in taken]
        case = _other_case(dice, [one.case for one in asked], len(free), NEAR + len(times) // SESSIONS_PER_NEAR)
        if case is None:
            break
        homes = () if without_answer else tuple(sorted(dice.sample(free, len(case.evidence))))
        asked.append(_Asked(case, seen, homes, without_answer))
    return asked


def _other_case(dice: Dice, before: Sequence[Case], free: int, near: int) -> Case | None:
    """A case about nothing that those before are about, whose evidence fits into `free` sessions; None where there is
    none to be found."""
    known = frozenset[str]().union(*(case.about for case in before))
    for _ in range(_DRAWS if free else 0):
        case = draw_case(dice, free, near)
        if not known & case.about:
            return case
    return None


def _request_id(digest: str, place: int, asked: _Asked, requests: int) -> str:
    return digest[:16] + (f"_{place}" if requests > 1 else "") + ("_abs" if asked.absent else "")


def _seen_sessions(dice: Dice, sessions: int) -> int:
    """How many of the sessions lie before the question: nearly always all."""
    return dice.between((sessions + 1) // 2, sessions - 1) if sessions > 1 and dice.chance(ASKED_EARLY) else sessions


def _asked_at(dice: Dice, times: list[datetime], seen: int) -> datetime:
    """A time after the last seen session and before the next."""
    if seen == len(times):
        return times[-1] + timedelta(days=dice.below(30), minutes=dice.between(120, 600))
    return times[seen - 1] + (times[seen] - times[seen - 1]) / 2


def _drafts(dice: Dice, asked: Sequence[_Asked], sessions: int) -> list[Draft]:
    """Sessions with everything planted: evidence first, then near misses, then facts that have no part in it."""
    evidence = {home: told for one in asked for home, told in zip(one.homes, one.case.evidence, strict=False)}
    near: list[list[Statement]] = [[] for _ in range(sessions)]
    for one in asked:
        for statement in one.case.near:
            dice.pick(near).append(statement)
    families = [family for one in asked for family in one.case.families]
    drafts = []
    for i in range(sessions):
        told = [evidence[i]] if i in evidence else []
        session = draft(dice, [*told, *near[i]])
        for statement in told:
            session.plant(dice, statement, evidence=True)
        for statement in [*near[i], *_background(dice, families)]:
            session.plant(dice, statement)
        drafts.append(session)
    return drafts


def _background(dice: Dice, asked_about: Sequence[Family]) -> list[Statement]:
    facts = []
    for family in other_families(dice, asked_about, BACKGROUND):
        event = draw_events(dice, family, 1)[0]
        attribute = dice.pick(("amount", "place", "person", None))
        if dice.chance(0.7):
            facts.append(happened(dice, event, attribute, today=dice.chance(0.3)))
        else:
            facts.append(happened_to_another(dice, event, attribute))
    return facts


def _session(dice: Dice, session: Draft) -> list[dict[str, Any]]:
    turns = []
    for i, role in enumerate(session.roles):
        text = turn_text(dice, session.topic, role, i == 0, session.planted.get(i))
        label = {"has_answer": i in session.evidence} if session.evidence else {}
        turns.append({"role": role, "content": text, **label})
    return turns

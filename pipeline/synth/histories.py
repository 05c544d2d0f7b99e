"""Whole histories, and many of them as one JSON array."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

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


def history(seed: int, index: int, sessions: int) -> dict[str, Any]:
    """One LongMemEval-shaped item: a history of `sessions` sessions and one question.

    Depends on nothing but its arguments. `has_answer` stands on every turn of the sessions that hold evidence and
    nowhere else; the id of a question without an answer ends in `_abs`. Session ids are neutral. Raises ValueError
    when sessions < 1 or index < 0.
    """
    if sessions < 1 or index < 0:
        raise ValueError(f"a history needs at least one session and an index from 0: sessions={sessions}, {index=}")
    key = f"slatemill-synth/{seed}/{index}/{sessions}"
    dice = Dice(key)
    absent = dice.chance(ABSENT)
    times = session_times(dice, sessions)
    seen = _seen_sessions(dice, sessions)
    days = [i for i in range(seen) if i == 0 or times[i].date() > times[i - 1].date()]
    case = draw_case(dice, len(days), NEAR + sessions // SESSIONS_PER_NEAR)
    homes = [] if absent else sorted(dice.sample(days, len(case.evidence)))
    drafts = _drafts(dice, case, homes, sessions)
    answer = dice.pick(ABSENT_ANSWERS) if absent else case.answer([times[home] for home in homes])
    digest = hashlib.sha256(key.encode()).hexdigest()
    ids = [f"{dice.below(1 << 32):08x}_{dice.between(1, 4)}" for _ in drafts]
    return {
        "question_id": digest[:16] + ("_abs" if absent else ""),
        "question_type": case.question_type,
        "question": case.question,
        "answer": answer,
        "question_date": stamp(_asked_at(dice, times, seen)),
        "haystack_dates": [stamp(time) for time in times],
        "haystack_session_ids": ids,
        "haystack_sessions": [_session(dice, session) for session in drafts],
        "answer_session_ids": [ids[home] for home in homes],
    }


def json_chunks(histories: int, sessions: int, seed: int) -> Iterator[bytes]:
    """The bytes of a JSON array of histories 0 to histories - 1, one history a line; at most one is in memory."""
    yield b"[\n"
    for index in range(histories):
        end = ",\n" if index + 1 < histories else "\n"
        yield (json.dumps(history(seed, index, sessions), ensure_ascii=False) + end).encode()
    yield b"]\n"


def _seen_sessions(dice: Dice, sessions: int) -> int:
    """How many of the sessions lie before the question: nearly always all."""
    return dice.between((sessions + 1) // 2, sessions - 1) if sessions > 1 and dice.chance(ASKED_EARLY) else sessions


def _asked_at(dice: Dice, times: list[datetime], seen: int) -> datetime:
    """A time after the last seen session and before the next."""
    if seen == len(times):
        return times[-1] + timedelta(days=dice.below(30), minutes=dice.between(120, 600))
    return times[seen - 1] + (times[seen] - times[seen - 1]) / 2


def _drafts(dice: Dice, case: Case, homes: list[int], sessions: int) -> list[Draft]:
    """Sessions with everything planted: evidence first, then near misses, then facts that have no part in it."""
    evidence = dict(zip(homes, case.evidence, strict=False))
    near: list[list[Statement]] = [[] for _ in range(sessions)]
    for statement in case.near:
        dice.pick(near).append(statement)
    drafts = []
    for i in range(sessions):
        told = [evidence[i]] if i in evidence else []
        session = draft(dice, [*told, *near[i]])
        for statement in told:
            session.plant(dice, statement, evidence=True)
        for statement in [*near[i], *_background(dice, case)]:
            session.plant(dice, statement)
        drafts.append(session)
    return drafts


def _background(dice: Dice, case: Case) -> list[Statement]:
    facts = []
    for family in other_families(dice, case.families, BACKGROUND):
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

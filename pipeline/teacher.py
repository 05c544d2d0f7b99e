"""Stage `teacher_scores`: what a language model makes of each request and the turns at the head of its pool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import polars as pl
import pyarrow as pa

from models.interfaces import Answer, LanguageModel, Prompt
from pipeline.llm.prompts import Instructions, instructions
from pipeline.llm.ratings import ALTERNATIVES, MAX_TOKENS, Rating, rating
from pipeline.llm.untrusted import fenced
from pipeline.recall.indexed_text import indexed_text
from pipeline.schemas import QUARANTINE, REQUEST_KEY, TEACHER_SCORES, TURN_KEY

AT_ONCE = 8_192
"""Prompts that a model is handed together: enough to keep it busy, few enough that their answers fit into memory."""
NO_SCORE = "no_score"
"""Code of a candidate whose answer was no rating."""

_TRY_AGAIN = 0.7
"""Temperature of a second try: at 0 another seed would give the same answer."""
_CUT = "\n[...]\n"
_ROUNDS = 5
"""How often a turn is cut further until its prompt fits: counts of parts are a guess."""


class Scored(NamedTuple):
    """Scores of candidates (TEACHER_SCORES), those without one (QUARANTINE), and all answers, which say the cost."""

    table: pa.Table
    quarantine: pa.Table
    answers: list[Answer]


def teacher_instructions() -> Instructions:
    """What the teacher is told before each request and turn: part of what is stamped."""
    return instructions("teacher")


def teacher_scores(
    pools: pa.Table,
    requests: pa.Table,
    turns: pa.Table,
    model: LanguageModel,
    top: int | None,
    at_once: int = AT_ONCE,
) -> Iterator[Scored]:
    """Rates the first `top` candidates of each pool, all where it is None, one prompt each, `at_once` prompts a part.

    After the reference reranker of AgentMemRec (arXiv 2610.34673, appendix B: each pooled turn from 0 to 10, one call a
    turn). Rows are sorted by request and pool_position: the prompts of a request follow each other and begin alike, so
    that a cache of prefixes serves them. An answer that is no rating is asked for once more, by another seed; then the
    score is null, and the candidate stands in quarantine too. Raises what the model raises when it is gone.
    """
    candidates = pl.DataFrame(pl.from_arrow(pools.select([*_KEY, "pool_position"]))).sort(*REQUEST_KEY, "pool_position")
    if top is not None:
        candidates = candidates.filter(pl.col("pool_position") <= top)
    asked = pl.DataFrame(pl.from_arrow(requests.select([*REQUEST_KEY, "text", "asked_at"])))
    told = pl.DataFrame(pl.from_arrow(turns.select([*TURN_KEY, "session_time"])))
    told = told.with_columns(indexed_text(turns).alias("turn"))
    pairs = candidates.join(
        asked, on=list(REQUEST_KEY), how="inner", maintain_order="left", validate="m:1"
    ).join(told, on=list(TURN_KEY), how="inner", maintain_order="left", validate="m:1")  # fmt: skip
    if pairs.height < candidates.height:
        raise ValueError("a pool names requests or turns that there are not")
    for part in pairs.iter_slices(at_once):
        yield _scored(part, model)


_KEY = [*REQUEST_KEY[::-1], *TURN_KEY[1:]]


def _scored(pairs: pl.DataFrame, model: LanguageModel) -> Scored:
    prompts = _prompts(pairs, model)
    answers = model.answer(prompts)
    ratings = [rating(answer) for answer in answers]
    again = [
        place
        for place, (answer, rated) in enumerate(zip(answers, ratings, strict=True))
        if rated.score is None and answer.status == "ok"
    ]
    if again:
        second = model.answer([prompts[place]._replace(seed=1, temperature=_TRY_AGAIN) for place in again])
        answers = [*answers, *second]
        for place, answer in zip(again, second, strict=True):
            ratings[place] = rating(answer)
    table = _table(pairs, ratings)
    return Scored(table, _without_score(pl.DataFrame(table), model.name), answers)


def _table(pairs: pl.DataFrame, ratings: Sequence[Rating]) -> pa.Table:
    scores = [rated.score for rated in ratings]
    return (
        pairs.select(_KEY)
        .with_columns(
            pl.Series("score", scores, pl.Float32),
            pl.Series("status", ["failed" if score is None else "ok" for score in scores], pl.String),
            pl.Series("reason", [rated.reason for rated in ratings], pl.String),
            pl.Series("from_logprobs", [rated.from_logprobs for rated in ratings], pl.Boolean),
        )
        .to_arrow()
        .cast(TEACHER_SCORES)
    )


def _without_score(scores: pl.DataFrame, model: str) -> pa.Table:
    """Rows of QUARANTINE for the candidates without a score: too many of them mean that the model is no teacher."""
    failed = scores.filter(pl.col("score").is_null()).select(
        *_KEY,
        code=pl.lit(NO_SCORE),
        reason=pl.format("teacher {}: {}", pl.lit(model), "reason"),
        origin=pl.lit("row"),
        weight=pl.lit(1, pl.Int32),
    )
    absent = [name for name in QUARANTINE.names if name not in failed.columns]
    return failed.with_columns(pl.lit(None).alias(name) for name in absent).to_arrow().select(QUARANTINE.names).cast(
        QUARANTINE
    )  # fmt: skip


def _prompts(pairs: pl.DataFrame, model: LanguageModel) -> list[Prompt]:
    """The prompt of each pair. Where one is longer than the model's context, the middle of the turn is left out."""
    rows = list(pairs.select("text", "asked_at", "turn", "session_time").iter_rows())
    prompts = [_prompt(*row) for row in rows]
    room = model.context - MAX_TOKENS
    # No text has more tokens than bytes; the template around it has some of its own, hence half.
    long = [place for place, prompt in enumerate(prompts) if _bytes(prompt) > room // 2]
    kept = {place: len(rows[place][2]) for place in long}
    for _ in range(_ROUNDS if long else 0):
        counts = dict(zip(long, model.count([prompts[place] for place in long]), strict=True))
        long = [place for place in long if counts[place] > room]
        for place in long:
            text, asked_at, turn, session_time = rows[place]
            kept[place] = int(kept[place] * 0.9 * room / counts[place])
            prompts[place] = _prompt(text, asked_at, _shortened(turn, kept[place]), session_time)
        if not long:
            break
    return prompts


def _prompt(request: str, asked_at: datetime | None, turn: str, session_time: datetime | None) -> Prompt:
    user = (
        f"{_dated(fenced('request', request), 'Asked', asked_at)}\n{_dated(fenced('turn', turn), 'Said', session_time)}"
    )
    return Prompt(teacher_instructions().text, user, MAX_TOKENS, alternatives=ALTERNATIVES)


def _dated(text: str, done: str, time: datetime | None) -> str:
    return text if time is None else f"{done} on {time:%Y-%m-%d}:\n{text}"


def _shortened(text: str, length: int) -> str:
    """The head and the tail of a text, together of so many characters."""
    tail = length // 3
    return f"{text[: length - tail]}{_CUT}{text[len(text) - tail :]}"


def _bytes(prompt: Prompt) -> int:
    return len(prompt.system.encode()) + len(prompt.user.encode())

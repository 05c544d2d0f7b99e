"""Stage `answers`: what a reader says to the requests from their slates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from models.interfaces import Answer, LanguageModel
from pipeline.answers.draws import draws
from pipeline.answers.shapes import SHAPES, Asked, Draw, Shape, answer_prompt, notes_prompt
from pipeline.schemas import ANSWERS, REQUEST_KEY
from pipeline.text import sanitise_text


@dataclass(frozen=True)
class Reading:
    """Who reads, in which shape, and how often each slate."""

    reader: str
    shape: str
    repeats: int = 1


def answers(slates: pa.Table, requests: pa.Table, model: LanguageModel, reading: Reading) -> pa.Table:
    """ANSWERS: for each slate one row for every repeat, by request, policy, budget and repeat.

    An empty slate is asked like any other. All prompts go to the model in one call, in two where notes are taken first;
    a prompt that fails is a row with status `failed`, and notes that fail are not read.
    """
    shape, drawn = SHAPES[reading.shape], draws(reading.repeats)
    told = pl.DataFrame(pl.from_arrow(requests.select([*REQUEST_KEY, "text", "asked_at"])))
    rows = (
        pl.DataFrame(pl.from_arrow(slates.select([*REQUEST_KEY, "policy", "budget", "text"])))
        .rename({"text": "slate"})
        .join(told, on=list(REQUEST_KEY), validate="m:1")
        .join(pl.DataFrame({"repeat": list(drawn)}, {"repeat": pl.Int32}), how="cross")
        .sort(*REQUEST_KEY, "policy", "budget", "repeat")
    )
    asked = [Asked(*row) for row in rows.select("slate", "text", "asked_at").iter_rows()]
    given = _read(shape, asked, [drawn[repeat] for repeat in rows["repeat"]], model)
    outcome = pl.DataFrame(given, infer_schema_length=None, schema=_OUTCOME)
    named = rows.drop("slate", "text", "asked_at").with_columns(
        reader=pl.lit(reading.reader), shape=pl.lit(reading.shape)
    )
    return pl.concat([named, outcome], how="horizontal").select(ANSWERS.names).to_arrow().cast(ANSWERS)


_OUTCOME = {
    "text": pl.String,
    "notes": pl.String,
    "finish": pl.String,
    "status": pl.String,
    "reason": pl.String,
    "prompt_tokens": pl.Int64,
    "completion_tokens": pl.Int64,
    "attempts": pl.Int32,
}


def _read(shape: Shape, asked: Sequence[Asked], drawn: Sequence[Draw], model: LanguageModel) -> list[dict[str, Any]]:
    """What came of each, as rows of _OUTCOME."""
    if not asked:
        return []
    if shape.notes is None:
        prompts = [answer_prompt(shape, one, None, draw) for one, draw in zip(asked, drawn, strict=True)]
        return [_row([answer]) for answer in model.answer(prompts)]
    noted = model.answer([notes_prompt(shape, one, draw) for one, draw in zip(asked, drawn, strict=True)])
    prompts = [
        answer_prompt(shape, one, notes.text, draw)
        for one, notes, draw in zip(asked, noted, drawn, strict=True)
        if notes.status == "ok"
    ]
    said = iter(model.answer(prompts) if prompts else [])
    return [_row([notes, next(said)] if notes.status == "ok" else [notes], with_notes=True) for notes in noted]


def _row(calls: Sequence[Answer], with_notes: bool = False) -> dict[str, Any]:
    """A row of the calls for one answer: the last is what came of it, unless it is notes that failed."""
    last = calls[-1]
    failed = last.status == "failed"
    of_notes = with_notes and len(calls) == 1
    return {
        "text": "" if failed else sanitise_text(last.text),
        "notes": sanitise_text(calls[0].text) if with_notes and not of_notes else None,
        "finish": last.finish,
        "status": last.status,
        "reason": f"{'notes: ' if of_notes else ''}{sanitise_text(last.reason)}" if failed else None,
        "prompt_tokens": sum(call.prompt_tokens for call in calls),
        "completion_tokens": sum(call.completion_tokens for call in calls),
        "attempts": sum(call.attempts for call in calls),
    }

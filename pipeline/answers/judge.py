"""Stage `judgements`: whether a judge, another language model, takes answers for right.

As LongMemEval judges (arXiv 2410.10813; src/evaluation/evaluate_qa.py): instructions by the kind of the question, at
temperature 0, ten tokens of reply, right where the reply holds "yes". The words of the instructions are our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from models.interfaces import Answer, LanguageModel, Prompt
from pipeline.answers.conventions import JUDGED_ADVERSARIAL, JUDGED_BY, JUDGED_PLAIN, judged_by
from pipeline.answers.draws import draws
from pipeline.answers.shapes import Draw
from pipeline.llm.prompts import instructions
from pipeline.llm.untrusted import fenced
from pipeline.schemas import ANSWER_KEY, JUDGEMENTS, REQUEST_KEY
from pipeline.text import sanitise_text

REPLY_TOKENS = 10
_NO = re.compile(r"\bno\b", re.IGNORECASE)


@dataclass(frozen=True)
class Judging:
    """Who judges, and how often each answer."""

    judge: str
    judgings: int = 1

    @property
    def config(self) -> dict[str, Any]:
        """All that decides the prompts, as plain literals."""
        names = sorted({*JUDGED_BY.values(), JUDGED_PLAIN, JUDGED_ADVERSARIAL})
        return {
            "instructions": [instructions(name).identity for name in names],
            "by_category": dict(sorted(JUDGED_BY.items())),
            "reply_tokens": REPLY_TOKENS,
        }


def parse(reply: str) -> bool | None:
    """True where the reply holds "yes" (LongMemEval's rule); else False where it says no, else None."""
    if "yes" in reply.lower():
        return True
    return False if _NO.search(reply) else None


def judgements(answers: pa.Table, requests: pa.Table, model: LanguageModel, judging: Judging) -> pa.Table:
    """JUDGEMENTS: for each answer one row for every judging, by answer and judging; all prompts go in one call.

    A request without a gold answer has none, unless it is adversarial. An answer that failed is wrong unasked.
    """
    drawn = draws(judging.judgings)
    told = pl.DataFrame(pl.from_arrow(requests)).select(
        *REQUEST_KEY, "category", "adversarial", question="text", gold="answer"
    )
    rows = (
        pl.DataFrame(pl.from_arrow(answers.select([*ANSWER_KEY, "text", "status"])))
        .join(told.filter(pl.col("adversarial") | pl.col("gold").is_not_null()), on=list(REQUEST_KEY), validate="m:1")
        .join(pl.DataFrame({"judging": list(drawn)}, {"judging": pl.Int32}), how="cross")
        .sort(*REQUEST_KEY, *(name for name in ANSWER_KEY if name not in REQUEST_KEY), "judging")
    )
    asked = [row for row in rows.iter_rows(named=True) if row["status"] == "ok"]
    said = iter(model.answer([judge_prompt(row, drawn[row["judging"]]) for row in asked]) if asked else [])
    outcome = [_judged(next(said)) if status == "ok" else _UNANSWERED for status in rows["status"]]
    named = rows.select(*ANSWER_KEY, "judging").with_columns(judge=pl.lit(judging.judge))
    found = pl.DataFrame(outcome, schema=_OUTCOME)
    return pl.concat([named, found], how="horizontal").select(JUDGEMENTS.names).to_arrow().cast(JUDGEMENTS)


def judge_prompt(row: Mapping[str, Any], draw: Draw) -> Prompt:
    """What asks the judge, of a row of question, gold, category, adversarial and text (the answer)."""
    gold = "explanation" if row["adversarial"] else "right_answer"
    parts = [("question", row["question"]), *([(gold, row["gold"])] if row["gold"] is not None else [])]
    user = "\n\n".join(fenced(name, text) for name, text in (*parts, ("reply", row["text"])))
    told = instructions(judged_by(row["category"], row["adversarial"])).text
    return Prompt(told, f"{user}\n\nYes or no?", REPLY_TOKENS, temperature=draw.temperature, seed=draw.seed)


_OUTCOME = {
    "label": pl.Boolean,
    "text": pl.String,
    "status": pl.String,
    "reason": pl.String,
    "prompt_tokens": pl.Int64,
    "completion_tokens": pl.Int64,
    "attempts": pl.Int32,
}
_UNANSWERED = {
    "label": False,
    "text": "",
    "status": "unanswered",
    "reason": None,
    "prompt_tokens": 0,
    "completion_tokens": 0,
    "attempts": 0,
}


def _judged(reply: Answer) -> dict[str, Any]:
    """A row of _OUTCOME."""
    failed = reply.status == "failed"
    label = None if failed else parse(reply.text)
    return {
        "label": label,
        "text": "" if failed else sanitise_text(reply.text),
        "status": "failed" if failed else "unparsed" if label is None else "ok",
        "reason": sanitise_text(reply.reason) if failed else None,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "attempts": reply.attempts,
    }

"""Passages chosen as a list: a language model reads the head of a pool and names what is needed, as many as needed: the
idea of DynamicRAG, as AgentMemRec compares with it (arXiv 2610.34673, appendix D), and of SetR (Lee et al. 2025, arXiv
2507.06838).

Ours differs: the model is not trained for it, and it is asked once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import polars as pl
import pyarrow as pa

from models.interfaces import Answer, LanguageModel, Prompt, TokenCounter
from pipeline import schemas
from pipeline.llm.prompts import instructions
from pipeline.llm.room import InParts, fitted
from pipeline.llm.rounds import Complaint
from pipeline.llm.untrusted import fenced_apart
from pipeline.memory.call import USABLE
from pipeline.memory.llm_designs.names import LISTWISE
from pipeline.memory.llm_designs.numbers import number_schema, numbers_in
from pipeline.policies.orders import recall_order
from pipeline.policies.registry import Policy
from pipeline.policies.slates import SlateOptions, slates_by
from pipeline.records.lengths import one_line
from pipeline.render.dates import day

PROMPT = "listwise"
PASSAGES = 40
"""Turns of a pool that a model reads: as many as AgentMemRec gives to DynamicRAG."""
_TOKENS = 300
_LONGEST = 1600
"""Characters of a passage: a longer turn is read to there, and shown whole."""
_SCHEMA = number_schema("passages", PASSAGES)


class Asked(NamedTuple):
    """A request, the head of its pool (rows of a frame with the turns' text), and how much of it the prompt holds."""

    key: tuple[str, str]
    passages: pl.DataFrame
    prompt: Prompt
    shown: int


def questions(requests: pa.Table, pools: pa.Table, turns: pa.Table, model: LanguageModel) -> list[Asked]:
    """What is asked for each request that has a pool, in order of history and request."""
    said = pl.DataFrame(pl.from_arrow(turns)).select(
        *schemas.TURN_KEY, "session_time", "text", name=pl.coalesce("speaker", "role")
    )
    head = (
        pl.DataFrame(pl.from_arrow(pools))
        .select(*schemas.LABELS.names, "pool_position")
        .filter(pl.col("pool_position") <= PASSAGES)
        .join(said, on=list(schemas.TURN_KEY))
        .sort(*schemas.REQUEST_KEY, "pool_position")
    )
    texts = pl.DataFrame(pl.from_arrow(requests)).select(*schemas.REQUEST_KEY, "text").iter_rows()
    asked = {(history, request): text for history, request, text in texts}
    groups = [
        ((str(history), str(request)), rows)
        for (history, request), rows in head.group_by(*schemas.REQUEST_KEY, maintain_order=True)
    ]
    parts = [InParts(_made(asked[key], _lines(rows)), rows.height) for key, rows in groups]
    return [
        Asked(key, rows, found.prompt, found.parts)
        for (key, rows), found in zip(groups, fitted(model, parts), strict=True)
    ]


def chosen(asked: Asked, answer: Answer) -> tuple[int, ...] | Complaint:
    """The places in the pool's head that an answer names, best first; it must name one."""
    if not asked.shown:
        return Complaint("not one passage has room")
    numbers = numbers_in(answer, "passages", range(1, asked.shown + 1), PASSAGES)
    if isinstance(numbers, Complaint):
        return numbers
    return tuple(number - 1 for number in numbers) or Complaint("its answer names no passage")


def listwise_slates(
    requests: pa.Table,
    pools: pa.Table,
    turns: pa.Table,
    wanted: Mapping[tuple[str, str], pl.DataFrame],
    options: SlateOptions,
    counter: TokenCounter,
) -> pa.Table:
    """Slates (SLATES) of these turns (the key of each, in order) and no others, filled as those of pools are, within
    what the designs of memory use of a budget; a request for which nothing is `wanted` has its pool in order."""
    frame = pl.DataFrame(pl.from_arrow(pools)).select(*schemas.LABELS.names, "pool_position")
    listed = [rows.select(schemas.LABELS.names).with_row_index("pool_position", 1) for rows in wanted.values()]
    ranked = [rows.select(*schemas.LABELS.names, pl.col("pool_position").cast(pl.Int32)) for rows in listed]
    keys = pl.DataFrame(list(wanted), schema=dict.fromkeys(schemas.REQUEST_KEY, pl.String), orient="row")
    candidates = pl.concat([frame.join(keys, on=list(schemas.REQUEST_KEY), how="anti"), *ranked])
    usable = SlateOptions((LISTWISE,), tuple(int(USABLE * budget) for budget in options.budgets), options.style)
    made = slates_by(requests, candidates, turns, {LISTWISE: Policy(recall_order)}, usable, counter)
    asked = made.num_rows // max(len(options.budgets), 1)
    of_whole = pa.array(list(options.budgets) * asked, schemas.SLATES.field("budget").type)
    return made.set_column(made.schema.get_field_index("budget"), schemas.SLATES.field("budget"), of_whole)


def _lines(passages: pl.DataFrame) -> list[str]:
    """The passages with their numbers, days and speakers."""
    return [
        f"[{number}] {f'{day(time)}, ' if time is not None else ''}{name}: {one_line(text)[:_LONGEST]}"
        for number, (time, name, text) in enumerate(
            passages.select("session_time", "name", "text").iter_rows(), start=1
        )
    ]


def _made(text: str, lines: Sequence[str]) -> Callable[[int], Prompt]:
    def made(parts: int) -> Prompt:
        both = fenced_apart(request=text, passages="\n".join(lines[:parts]))
        return Prompt(instructions(PROMPT).text, both, _TOKENS, _SCHEMA)

    return made

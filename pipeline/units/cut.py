"""Units: the spans of turns that a history is cut into, each written once (FlexA-Mem, arXiv 2610.33274, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from models.interfaces import TokenCounter
from pipeline.schemas import TURN_KEY, UNITS
from pipeline.units.spans import spans_within

PART = ("history_id", "session_index")
"""What names a session part: no unit crosses one, so that units stay as they are however a history grows."""


class CutOptions(BaseModel):
    """How long units are, in tokens of the lake's tokenizer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reader_tokens: int = Field(2_000, ge=1)
    agent_tokens: int = Field(1_000, ge=1)

    @property
    def choice_id(self) -> str:
        """What names this cut in paths."""
        return f"r{self.reader_tokens}-a{self.agent_tokens}"


def units(turns: pa.Table, agents: Collection[str], options: CutOptions, counter: TokenCounter) -> pa.Table:
    """Units (UNITS) of the turns (TURNS) of one batch, sorted by history, session and unit.

    A unit reaches from character `start` of turn `first_turn` to character `end` (exclusive) of `last_turn`; the units
    of a session part are its turns, whole and in order. A session of a reader is cut before turns of the user, into
    units of at most `reader_tokens`; an exchange that is longer begins a unit, and is cut before other turns too. So
    all units of a part but the last stay as they are when turns are added to it. Of the histories in `agents` the steps
    are packed until a unit has `agent_tokens`. A turn of more tokens than these is cut at line breaks into units of its
    own, `of_a_long_turn`. `n_tokens` adds up those of the turns, each counted alone.
    """
    frame = (
        pl.DataFrame(pl.from_arrow(turns))
        .sort(TURN_KEY)
        .with_columns(agent=pl.col("history_id").is_in(list(agents)), length=pl.col("text").str.len_chars())
        .with_columns(limit=pl.when("agent").then(options.agent_tokens).otherwise(options.reader_tokens))
        .with_columns(long=pl.col("n_tokens") > pl.col("limit"))
    )
    atoms = pl.concat([_exchanges(frame.filter(~pl.col("long"))), _parts(frame.filter("long"), counter)])
    atoms = atoms.sort(*PART, "first_turn", "start")
    packed = atoms.with_columns(unit=pl.Series(_packed(atoms), dtype=pl.Int64))
    made = packed.group_by("unit", maintain_order=True).agg(
        pl.col(*PART, "session_time", "agent", "first_turn", "start", "of_a_long_turn").first(),
        pl.col("last_turn", "end").last(),
        pl.col("n_tokens").sum(),
    )
    numbered = made.with_columns(unit_index=pl.int_range(pl.len()).over(PART))
    return numbered.select(UNITS.names).to_arrow().cast(UNITS)


def _exchanges(turns: pl.DataFrame) -> pl.DataFrame:
    """What is not cut apart where it fits: a turn of the user and those after it up to the next, or a step.

    The first turn of one that does not fit `opens` a unit.
    """
    follows = (pl.col("turn_index").diff() == 1).over(PART).fill_null(value=False)
    begins = pl.col("agent") | (pl.col("role") == "user") | ~follows
    marked = turns.with_columns(exchange=begins.cum_sum().over(PART))
    whole = pl.col("n_tokens").sum().over(*PART, "exchange") <= pl.col("limit")
    atom = pl.when(whole).then(pl.col("exchange")).otherwise(-1 - pl.col("turn_index"))
    return (
        marked.with_columns(atom=atom, opens=~whole & begins)
        .group_by(*PART, "atom", maintain_order=True)
        .agg(
            first_turn=pl.col("turn_index").first(),
            start=pl.lit(0, pl.Int64),
            last_turn=pl.col("turn_index").last(),
            end=pl.col("length").last().cast(pl.Int64),
            n_tokens=pl.col("n_tokens").sum().cast(pl.Int64),
            of_a_long_turn=pl.lit(value=False),
            opens=pl.col("opens").first(),
            session_time=pl.col("session_time").first(),
            agent=pl.col("agent").first(),
            limit=pl.col("limit").first().cast(pl.Int64),
        )
        .drop("atom")
    )


def _parts(turns: pl.DataFrame, counter: TokenCounter) -> pl.DataFrame:
    """The spans of turns that are longer than a unit."""
    rows = [
        (*key, span.start, key[-1], span.end, span.n_tokens, True, True, *rest)
        for *key, text, limit, time, agent in turns.select(
            *TURN_KEY, "text", "limit", "session_time", "agent"
        ).iter_rows()
        for rest in [(time, agent, limit)]
        for span in spans_within(text, limit, counter)
    ]
    return pl.DataFrame(rows, schema=_exchanges(turns.clear()).schema, orient="row")


def _packed(atoms: pl.DataFrame) -> npt.NDArray[np.int64]:
    """The unit of each atom: as many atoms of a session part as fit (reader), or until they reach the limit (agent)."""
    alone = atoms["of_a_long_turn"]
    run = pl.struct(
        *PART, pl.when("of_a_long_turn").then(pl.int_range(pl.len())).otherwise(-1), pl.col("opens").cum_sum()
    ).rle_id()
    borders = atoms.select(run.alias("run"))["run"].rle().struct.field("len").cum_sum().to_list()
    tokens, limits, agents = (atoms[name].to_numpy() for name in ("n_tokens", "limit", "agent"))
    unit = np.zeros(len(alone), np.int64)
    for first, last in pairwise([0, *borders]):
        for start in _starts(tokens[first:last], int(limits[first]), reach=bool(agents[first])):
            unit[first + start] = 1
    return np.cumsum(unit)


def _starts(tokens: npt.NDArray[np.int64], limit: int, *, reach: bool) -> Iterator[int]:
    """Where units begin among atoms of one run: each is filled up to `limit`, or until it reaches it."""
    total = np.concatenate([[0], np.cumsum(tokens)])
    start = 0
    while start < len(tokens):
        yield start
        filled = total[start] + limit
        after = np.searchsorted(total, filled, "left") if reach else np.searchsorted(total, filled, "right") - 1
        start = max(start + 1, int(after))

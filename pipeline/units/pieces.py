"""Pieces: the verbatim parts of units that can be recovered one by one (FlexA-Mem, arXiv 2610.33274, section 3)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

import polars as pl
import pyarrow as pa

from models.interfaces import TokenCounter
from pipeline.schemas import TURN_KEY
from pipeline.units.spans import Span, spans_within

PIECES: dict[str, pl.DataType] = {
    "history_id": pl.String(),
    "session_index": pl.Int64(),
    "unit_index": pl.Int32(),
    "piece_index": pl.Int32(),
    "turn_index": pl.Int32(),
    "start": pl.Int32(),
    "end": pl.Int32(),
    "n_tokens": pl.Int32(),
}

_UNIT = ("history_id", "session_index", "unit_index")
_BLOCK = re.compile(r"^(?=\$ |=>$)", re.MULTILINE)
"""Where a block of an agent's step begins: what it did, and what came of it (as pipeline.ingest.steps writes them)."""


def pieces(
    units: pl.DataFrame, turns: pa.Table, agents: Collection[str], limit: int, counter: TokenCounter
) -> pl.DataFrame:
    """Pieces of units: columns PIECES, sorted by unit and piece. `units` has columns UNITS, `turns` schema TURNS.

    A piece is characters `start` to `end` (exclusive) of a turn and has at most `limit` tokens, but for a single
    character of more. It takes as many whole lines as fit, and never crosses a turn or, in the histories of `agents`, a
    block of a step; the pieces of a unit are all its text, in order.
    """
    said = pl.DataFrame(pl.from_arrow(turns.select([*TURN_KEY, "text", "n_tokens"])))
    shown = (
        units.select(*_UNIT, "first_turn", "start", "last_turn", "end")
        .with_columns(turn_index=pl.int_ranges("first_turn", pl.col("last_turn") + 1, dtype=pl.Int32))
        .explode("turn_index")
        .join(said, on=list(TURN_KEY), how="inner")
        .with_columns(length=pl.col("text").str.len_chars().cast(pl.Int32))
        .with_columns(
            start=pl.when(pl.col("turn_index") == pl.col("first_turn")).then("start").otherwise(0),
            end=pl.when(pl.col("turn_index") == pl.col("last_turn")).then("end").otherwise("length"),
            agent=pl.col("history_id").is_in(list(agents)),
        )
    )
    fits = (pl.col("n_tokens") <= limit) & (pl.col("start") == 0) & (pl.col("end") == pl.col("length"))
    one = fits & ~(pl.col("agent") & pl.col("text").str.contains(r"(?m)^(\$ |=>$)"))
    columns = [*_UNIT, "turn_index", "start", "end", "n_tokens"]
    whole = shown.filter(one).select(columns)
    rows = [
        (*unit, turn, start + span.start, start + span.end, span.n_tokens)
        for *unit, turn, start, end, text, agent in shown.filter(~one)
        .select(*_UNIT, "turn_index", "start", "end", "text", "agent")
        .iter_rows()
        for span in _of_slice(text[start:end], limit, counter, in_blocks=agent)
    ]
    cut = pl.DataFrame(rows, schema=whole.schema, orient="row")
    found = pl.concat([whole, cut]).sort(*_UNIT, "turn_index", "start")
    numbered = found.with_columns(piece_index=pl.int_range(pl.len()).over(_UNIT))
    return numbered.select(pl.col(name).cast(kind) for name, kind in PIECES.items())


def _of_slice(text: str, limit: int, counter: TokenCounter, *, in_blocks: bool) -> Iterator[Span]:
    borders = {0, len(text)}
    if in_blocks:
        borders |= {match.start() for match in _BLOCK.finditer(text)}
    for first, last in pairwise(sorted(borders)):
        for span in spans_within(text[first:last], limit, counter):
            yield Span(first + span.start, first + span.end, span.n_tokens)

"""Pieces: the verbatim parts of units that can be recovered one by one (FlexA-Mem, arXiv 2610.33274, section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import polars as pl
import pyarrow as pa

from models.interfaces import TokenCounter
from pipeline.ingest.steps import BLOCK
from pipeline.recall.analyzer import analyze
from pipeline.schemas import PIECES, TURN_KEY, UNIT_KEY
from pipeline.units.spans import Span, spans_within


def pieces(units: pa.Table, turns: pa.Table, limit: int, counter: TokenCounter) -> pa.Table:
    """Pieces (PIECES) of units (UNITS) of turns (TURNS), sorted by unit and piece.

    A piece is characters `start` to `end` (exclusive) of a turn and has at most `limit` tokens, but for a single
    character of more. It takes as many whole lines as fit, and never crosses a turn or, where turns are steps, a block
    of one; the pieces of a unit are all its text, in order.
    """
    said = pl.DataFrame(pl.from_arrow(turns.select([*TURN_KEY, "speaker", "text", "n_tokens"])))
    shown = (
        pl.DataFrame(pl.from_arrow(units.select([*UNIT_KEY, "agent", "first_turn", "start", "last_turn", "end"])))
        .with_columns(turn_index=pl.int_ranges("first_turn", pl.col("last_turn") + 1, dtype=pl.Int32))
        .explode("turn_index")
        .join(said, on=list(TURN_KEY), how="inner")
        .with_columns(length=pl.col("text").str.len_chars().cast(pl.Int32))
        .with_columns(
            start=pl.when(pl.col("turn_index") == pl.col("first_turn")).then("start").otherwise(0),
            end=pl.when(pl.col("turn_index") == pl.col("last_turn")).then("end").otherwise("length"),
        )
    )
    fits = (pl.col("n_tokens") <= limit) & (pl.col("start") == 0) & (pl.col("end") == pl.col("length"))
    one = fits & ~(pl.col("agent") & pl.col("text").str.contains(r"(?m)^(\$ |=>$)"))
    columns = [*UNIT_KEY, "turn_index", "start", "end", "n_tokens", "speaker", "text"]
    whole = shown.filter(one).select(columns)
    rows = [
        (*unit, turn, start + span.start, start + span.end, span.n_tokens, speaker, text)
        for *unit, turn, start, end, speaker, text, agent in shown.filter(~one)
        .select(*UNIT_KEY, "turn_index", "start", "end", "speaker", "text", "agent")
        .iter_rows()
        for span in _of_slice(text[start:end], limit, counter, in_blocks=agent)
    ]
    cut = pl.DataFrame(rows, schema=whole.schema, orient="row")
    found = pl.concat([whole, cut]).sort(*UNIT_KEY, "turn_index", "start")
    said_by = pl.when(pl.col("start") == 0).then(pl.col("speaker") + ": ").fill_null("")
    indexed = found.select(said_by + pl.col("text").str.slice("start", pl.col("end") - pl.col("start"))).to_series()
    numbered = found.with_columns(
        piece_index=pl.int_range(pl.len(), dtype=pl.Int32).over(UNIT_KEY), terms=analyze(indexed)
    )
    return numbered.select(PIECES.names).to_arrow().cast(PIECES)


def _of_slice(text: str, limit: int, counter: TokenCounter, *, in_blocks: bool) -> Iterator[Span]:
    borders = {0, len(text)}
    if in_blocks:
        borders |= {match.start() for match in BLOCK.finditer(text)}
    for first, last in pairwise(sorted(borders)):
        for span in spans_within(text[first:last], limit, counter):
            yield Span(first + span.start, first + span.end, span.n_tokens)

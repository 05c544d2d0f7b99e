"""Stage `terms`: the lexical terms of each turn, computed once when the turn is written."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from pipeline.recall.analyzer import analyze
from pipeline.recall.indexed_text import indexed_text
from pipeline.schemas import TERMS, TURN_KEY


def terms(turns: pa.Table) -> pa.Table:
    """Terms of each turn of a batch: schema TERMS, one row a turn, sorted by turn key."""
    keys = pl.DataFrame(pl.from_arrow(turns.select(list(TURN_KEY))))
    analysed = keys.with_columns(analyze(indexed_text(turns)).alias("terms")).sort(*TURN_KEY)
    return analysed.to_arrow().select(TERMS.names).cast(TERMS)

"""Which turns a slate shows word for word: whole, or in parts that together are all of it."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

_CELL = ["history_id", "request_id", "policy", "budget"]
_TURN = ["session_index", "turn_index"]
VERBATIM = ("raw", "excerpt")
"""Resolutions that show a turn's own words."""


def shown_verbatim(slates: pa.Table, turns: pa.Table, wanted: pl.DataFrame) -> pl.DataFrame:
    """Of the turns that are `wanted` (columns history_id, request_id, session_index, turn_index), those that a slate
    shows verbatim: one row a (request, policy, budget, turn).

    `slates` have at least the key and `items` of SLATES, `turns` the key and `text` of TURNS. A turn is shown verbatim
    where every character of it that is not blank lies in a part that is.
    """
    key = ["history_id", *_TURN]
    items = (
        pl.DataFrame(slates)
        .select(*_CELL, "items")
        .explode("items", empty_as_null=False)
        .select(*_CELL, *[pl.col("items").struct.field(name) for name in (*_TURN, "resolution", "start", "end")])
        .filter(pl.col("resolution").is_in(VERBATIM))
        .join(wanted, on=["history_id", "request_id", *_TURN], how="semi")
    )
    texts = pl.DataFrame(turns).select(*key, "text").join(wanted.select(key).unique(), on=key, how="semi")
    return (
        items.group_by(*_CELL, *_TURN)
        .agg(spans=pl.struct("start", "end").sort())
        .join(texts, on=key, how="inner")
        .with_columns(whole=pl.struct("spans", "text").map_elements(_covered, return_dtype=pl.Boolean))
        .filter("whole")
        .select(*_CELL, *_TURN)
    )


def _covered(row: dict[str, object]) -> bool:
    """Whether spans, in order of their starts, leave nothing but blanks out."""
    spans, text = row["spans"], row["text"]
    assert isinstance(spans, list)
    assert isinstance(text, str)
    reached = 0
    for span in spans:
        if text[reached : span["start"]].strip():
            return False
        reached = max(reached, span["end"])
    return not text[reached:].strip()

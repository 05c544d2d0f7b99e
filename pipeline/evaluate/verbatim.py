"""Which turns a slate shows word for word: whole, or in parts that together are all of it."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa

_CELL = ["history_id", "request_id", "policy", "budget"]
_TURN = ["session_index", "turn_index"]
VERBATIM = ("raw", "excerpt")
"""Resolutions that show a turn's own words."""


def verbatim_turns(slates: pa.Table, texts: pa.Table | None, wanted: pl.DataFrame) -> pl.DataFrame:
    """Of the turns that are `wanted` (columns history_id, request_id, session_index, turn_index), those that a slate
    shows word for word: one row a (request, policy, budget, turn).

    `slates` have at least the key and `items` of SLATES, `texts` the key and `text` of TURNS. A turn counts where every
    character of it that is not blank lies in a part that is shown; without `texts`, where it is raw.
    """
    items = (
        pl.DataFrame(slates)
        .select(*_CELL, "items")
        .explode("items", empty_as_null=False)
        .select(*_CELL, *[pl.col("items").struct.field(name) for name in (*_TURN, "resolution", "start", "end")])
        .filter(pl.col("resolution").is_in(VERBATIM))
        .join(wanted, on=["history_id", "request_id", *_TURN], how="semi")
    )
    if texts is None:
        return items.filter(pl.col("resolution") == "raw").select(*_CELL, *_TURN).unique()
    key = ["history_id", *_TURN]
    return (
        items.group_by(*_CELL, *_TURN)
        .agg(spans=pl.struct("start", "end").sort())
        .join(pl.DataFrame(texts).select(*key, "text").unique(key), on=key, how="inner")
        .filter(pl.struct("spans", "text").map_elements(_covered, return_dtype=pl.Boolean))
        .select(*_CELL, *_TURN)
    )


def _covered(row: dict[str, Any]) -> bool:
    """Whether spans, in order of their starts, leave nothing but blanks out."""
    reached = 0
    for span in row["spans"]:
        if row["text"][reached : span["start"]].strip():
            return False
        reached = max(reached, span["end"])
    return not row["text"][reached:].strip()

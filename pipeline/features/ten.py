"""Stage `features`: the ten features of AgentMemRec."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from pipeline.schemas import FEATURES, TURN_KEY

ROLE_CODES = {"user": 0, "assistant": 1}
OTHER_ROLE = 2


def features(pools: pa.Table, turns: pa.Table) -> pa.Table:
    """The ten features of each candidate: schema FEATURES, rows as in `pools`, sorted by request and pool_position.

    `role` is 0 for user, 1 for assistant, 2 for any other; `turn_position` is the turn_index; `n_tokens` counts the
    text in o200k; `cross_encoder` is null: no such model has scored the pool. AgentMemRec (arXiv 2610.34673, 4.2).
    Raises ValueError when a candidate is not among `turns`.
    """
    candidates = pl.DataFrame(pl.from_arrow(pools)).sort("history_id", "request_id", "pool_position")
    of_turn = pl.DataFrame(pl.from_arrow(turns.select([*TURN_KEY, "role", "n_tokens"])))
    joined = candidates.join(of_turn, on=list(TURN_KEY), how="left", maintain_order="left", validate="m:1")
    unknown = joined.filter(pl.col("role").is_null())
    if len(unknown):
        raise ValueError(f"{len(unknown)} candidates are not among the turns, first: {unknown.row(0, named=True)}")
    named = joined.with_columns(
        cross_encoder=pl.lit(None, pl.Float32),
        role=pl.col("role").replace_strict(ROLE_CODES, default=OTHER_ROLE),
        turn_position=pl.col("turn_index"),
    )
    return named.to_arrow().select(FEATURES.names).cast(FEATURES)

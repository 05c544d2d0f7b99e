"""Which units are closed by what arrived: a record is written of these, once."""

from __future__ import annotations

import polars as pl

from pipeline.schemas import UNIT_KEY
from pipeline.units.cut import CutOptions


def newly_closed(units: pl.DataFrame, of_batch: pl.DataFrame, options: CutOptions) -> pl.DataFrame:
    """The units that a batch closes, each with its `leaf`, sorted by history and leaf.

    `units` (columns of UNITS) are those of the histories of a batch, of all that arrived up to it; `of_batch` those of
    the batch itself. A reader's unit is closed when it arrives. The last unit of an agent's history may be in the midst
    of what it does: unless it has its size, it is closed by the next steps that arrive. Leaves count the closed units
    of a history as they were closed: by batch, and within one by time, so that one that a request sees never counts
    after one of a later time that came with it.
    """
    now = _closed(units, options)
    before = _closed(units.join(of_batch.select(UNIT_KEY), on=UNIT_KEY, how="anti"), options)
    new = now.join(before.select(UNIT_KEY), on=UNIT_KEY, how="anti")
    written = before.group_by("history_id").agg(written=pl.len())
    return (
        _in_order(new.join(of_batch.select(*UNIT_KEY, arrived=pl.lit(1)), on=UNIT_KEY, how="left"))
        .join(written, on="history_id", how="left", maintain_order="left")
        .with_columns(leaf=(pl.col("written").fill_null(0) + pl.int_range(pl.len()).over("history_id")).cast(pl.Int32))
        .drop("written", "arrived")
    )


def _closed(units: pl.DataFrame, options: CutOptions) -> pl.DataFrame:
    is_last = pl.int_range(pl.len()).reverse().over("history_id") == 0
    is_open = pl.col("agent") & is_last & (pl.col("n_tokens") < options.agent_tokens)
    return units.sort(UNIT_KEY).filter(~is_open)


def _in_order(units: pl.DataFrame) -> pl.DataFrame:
    """What was open before comes first; then by time, and what has none before all else."""
    return units.sort(
        "history_id",
        pl.col("arrived").fill_null(0),
        "session_time",
        "session_index",
        "unit_index",
        nulls_last=False,
    )

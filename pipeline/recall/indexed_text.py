"""The text of a turn that is indexed and embedded."""

from __future__ import annotations

import polars as pl
import pyarrow as pa


def indexed_text(turns: pa.Table) -> pl.Series:
    """`speaker: text` of each turn, in the rows' order; the bare text where the source names no speaker.

    A role is not put in a speaker's place: `user` and `assistant` stand in half of all turns each, so as terms they
    would only add noise to every request that happens to use the word. Text of AgentMemRec (arXiv 2610.34673, 4.1).
    """
    frame = pl.DataFrame(pl.from_arrow(turns.select(["speaker", "text"])))
    speaker_prefix = pl.col("speaker") + ": "
    return frame.select((speaker_prefix.fill_null("") + pl.col("text")).alias("indexed_text")).to_series()

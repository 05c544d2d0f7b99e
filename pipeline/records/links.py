"""Stage `links`: which records are about the same (FlexA-Mem, arXiv 2610.33274, section 3.1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from pipeline.recall.history import matrix
from pipeline.schemas import LINKS

LINKS_OF_A_RECORD = 3
"""Earlier records that one is linked to."""
DECIMALS = 6
_BLOCK = 512


def links(of_batch: pa.Table, vectors: pa.Table) -> pa.Table:
    """Links (LINKS) of the records of a batch, sorted by history, unit and likeness.

    `of_batch` and `vectors` have schema unit_vectors: those of the batch, and those of its histories up to it. A record
    is linked to three of units that arrived before its own and are of no later time: whoever sees it sees these, be it
    bounded by time or by session. One without a time is seen by all, and so linked to none that has one. The most
    alike by cosine, of equal ones the earlier.
    """
    new = pl.DataFrame(pl.from_arrow(of_batch.select(["history_id", "leaf"])))
    first = dict(new.group_by("history_id").agg(pl.col("leaf").min()).iter_rows())
    table = vectors.combine_chunks()
    keys = pl.DataFrame(pl.from_arrow(table.drop_columns(["vector"]))).with_row_index("row")
    keys = keys.sort("history_id", "session_index", "unit_index")
    values = matrix(table["vector"]).astype(np.float32)
    found = [
        _of_history(notes, values[notes["row"].to_numpy()], first[history])
        for (history,), notes in keys.group_by("history_id", maintain_order=True)
        if history in first
    ]
    if not found:
        return LINKS.empty_table()
    return pl.concat(found).select(LINKS.names).to_arrow().cast(LINKS)


def _of_history(notes: pl.DataFrame, vectors: npt.NDArray[np.float32], first: int) -> pl.DataFrame:
    """Links of those from leaf `first` on, which arrived last; `notes` has them all, as their units arrived."""
    time = notes["session_time"].dt.epoch("us").to_numpy().astype(np.float64)
    timeless = np.isnan(time)
    parts = []
    for start in range(int((notes["leaf"] < first).sum()), len(notes), _BLOCK):
        stop = min(start + _BLOCK, len(notes))
        # einsum: a cosine is the same whatever stands beside it, which a matrix product does not promise.
        cosine = np.round(np.einsum("id,jd->ij", vectors[start:stop], vectors[:stop]), DECIMALS)
        row, column = np.arange(start, stop)[:, None], np.arange(stop)[None, :]
        seen = timeless[:stop] | (time[:stop] <= time[start:stop, None])
        cosine[~((column < row) & seen)] = -np.inf
        best = np.argsort(-cosine, axis=1, kind="stable")[:, :LINKS_OF_A_RECORD]
        kept = np.isfinite(np.take_along_axis(cosine, best, axis=1))
        source, place = np.nonzero(kept)
        target = best[source, place]
        to = notes.select("session_index", "unit_index")[target]
        parts.append(
            notes.select("history_id", "session_index", "unit_index")[source + start].with_columns(
                to_session=to["session_index"],
                to_unit=to["unit_index"],
                cosine=pl.Series(cosine[source, target].astype(np.float32)),
            )
        )
    return pl.concat(parts)

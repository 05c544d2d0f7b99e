"""How far the labels of a request reach: evidence that it cannot see, and citations that mean no stored turn."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from pipeline.ingest.codes import Code
from pipeline.ingest.settle import batch_and_session
from pipeline.recall.visible import hidden
from pipeline.schemas import REQUEST_KEY, TURN_KEY


def late_labels(labels: pa.Table, arrived: pl.DataFrame) -> pl.DataFrame:
    """The labels (LABELS) of turns that came in a later batch than their request: rows of `labels`, distinct.

    `arrived` says in which batch each request came: history_id, request_id, seq.
    """
    batch, _ = batch_and_session()
    known = _frame(labels).unique().join(arrived, on=REQUEST_KEY, how="inner")
    return known.filter(batch > pl.col("seq")).drop("seq")


def unseen_evidence(requests: pa.Table, labels: pa.Table, turns: pa.Table, late: pl.DataFrame) -> pl.DataFrame:
    """Requests with evidence that they do not see: by the rule of pipeline.recall.visible, or since it came too late.

    `turns` needs the key and session_time; `late` are those of late_labels, or none where a run reads the latest.
    Columns: history_id, request_id, n_unseen; a row only where n_unseen > 0.
    """
    bounds = _frame(requests).select(*REQUEST_KEY, "asked_at", "seen_session", "seen_turn")
    times = _frame(turns.select([*TURN_KEY, "session_time"]))
    judged = (
        _frame(labels)
        .unique()
        .join(bounds, on=REQUEST_KEY, how="inner")
        .join(times, on=TURN_KEY, how="left")
        .filter(hidden())
    )
    unseen = pl.concat([judged.select(late.columns), late]).unique()
    return unseen.group_by(REQUEST_KEY).agg(n_unseen=pl.len())


def unresolved_citations(noted: pl.DataFrame, late: pl.DataFrame) -> pl.DataFrame:
    """Requests with citations for which no label could be made.

    `noted` is ingest's quarantine (QUARANTINE) with the `seq` of the batch that put each row there. A source that is
    delivered again repeats its notes: each counts once. `late` (late_labels) tells that a request came again when more
    was stored: what that delivery, or one after it, did not note anew has been resolved. Columns: history_id,
    request_id, n_unresolved; a row only where n_unresolved > 0.
    """
    batch, _ = batch_and_session()
    since = late.group_by(REQUEST_KEY).agg(since=batch.max())
    cited = noted.filter((pl.col("code") == Code.CITATION.value) & pl.col("request_id").is_not_null())
    left = cited.join(since, on=REQUEST_KEY, how="left").filter(pl.col("seq") >= pl.col("since").fill_null(0))
    return left.unique([*REQUEST_KEY, "place"]).group_by(REQUEST_KEY).agg(n_unresolved=pl.len().cast(pl.Int64))


def _frame(table: pa.Table) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(table))

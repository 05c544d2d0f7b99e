"""How far the labels of a request reach: evidence that it cannot see, and citations that mean no stored turn."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from pipeline.ingest.codes import Code
from pipeline.ingest.settle import POSITION_BITS
from pipeline.schemas import REQUEST_KEY, TURN_KEY


def late_labels(labels: pa.Table, arrived: pl.DataFrame) -> pl.DataFrame:
    """The labels (LABELS) of turns that came in a later batch than their request: rows of `labels`, distinct.

    `arrived` says in which batch each request came: history_id, request_id, seq.
    """
    seq = pl.col("session_index") // (1 << POSITION_BITS)
    known = _frame(labels).unique().join(arrived, on=REQUEST_KEY, how="inner")
    return known.filter(seq > pl.col("seq")).drop("seq")


def unseen_evidence(requests: pa.Table, labels: pa.Table, turns: pa.Table, late: pl.DataFrame) -> pl.DataFrame:
    """Requests with evidence that they do not see: by the rule of pipeline.recall.visible, or since it came too late.

    `turns` needs the key and session_time; `late` are those of late_labels, or none where a run reads the latest.
    Columns: history_id, request_id, n_unseen; a row only where n_unseen > 0.
    """
    bounds = _frame(requests).select(*REQUEST_KEY, "asked_at", "seen_session", "seen_turn")
    times = _frame(turns.select([*TURN_KEY, "session_time"]))
    session, turn = pl.col("session_index"), pl.col("turn_index")
    later = pl.col("session_time") > pl.col("asked_at")
    beyond = (session > pl.col("seen_session")) | ((session == pl.col("seen_session")) & (turn > pl.col("seen_turn")))
    judged = (
        _frame(labels)
        .unique()
        .join(bounds, on=REQUEST_KEY, how="inner")
        .join(times, on=TURN_KEY, how="left")
        # A comparison with null is null, and hides nothing.
        .filter(later.fill_null(value=False) | beyond.fill_null(value=False))
    )
    unseen = pl.concat([judged.select(late.columns), late]).unique()
    return unseen.group_by(REQUEST_KEY).agg(n_unseen=pl.len())


def unresolved_citations(quarantine: pa.Table, late: pl.DataFrame) -> pl.DataFrame:
    """Requests with citations for which no label could be made, from ingest's quarantine.

    A source that is delivered again repeats its notes: each counts once. A citation that could be resolved when the
    request came again (`late`, from late_labels) counts no more. Columns: history_id, request_id, n_unresolved; a row
    only where n_unresolved > 0.
    """
    noted = _frame(quarantine).filter((pl.col("code") == Code.CITATION.value) & pl.col("request_id").is_not_null())
    cited = noted.unique([*REQUEST_KEY, "place"]).group_by(REQUEST_KEY).agg(n_cited=pl.len().cast(pl.Int64))
    resolved = late.group_by(REQUEST_KEY).agg(n_resolved=pl.len().cast(pl.Int64))
    left = cited.join(resolved, on=REQUEST_KEY, how="left").with_columns(
        n_unresolved=pl.col("n_cited") - pl.col("n_resolved").fill_null(0)
    )
    return left.filter(pl.col("n_unresolved") > 0).select(*REQUEST_KEY, "n_unresolved")


def _frame(table: pa.Table) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(table))

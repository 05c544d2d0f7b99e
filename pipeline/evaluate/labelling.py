"""How far the labels of a request reach: evidence that it cannot see, and citations that mean no stored turn."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from pipeline.ingest.codes import Code
from pipeline.schemas import REQUEST_KEY, TURN_KEY


def unseen_evidence(requests: pa.Table, labels: pa.Table, turns: pa.Table) -> pl.DataFrame:
    """Requests with evidence that they do not see (the rule is that of pipeline.recall.visible).

    `turns` needs the key and session_time. Columns: history_id, request_id, n_unseen; a row only where n_unseen > 0.
    """
    bounds = _frame(requests).select(*REQUEST_KEY, "asked_at", "seen_session", "seen_turn")
    times = _frame(turns.select([*TURN_KEY, "session_time"]))
    session, turn = pl.col("session_index"), pl.col("turn_index")
    later = pl.col("session_time") > pl.col("asked_at")
    beyond = (session > pl.col("seen_session")) | ((session == pl.col("seen_session")) & (turn > pl.col("seen_turn")))
    return (
        _frame(labels)
        .unique()
        .join(bounds, on=REQUEST_KEY, how="inner")
        .join(times, on=TURN_KEY, how="left")
        # A comparison with null is null, and hides nothing.
        .filter(later.fill_null(value=False) | beyond.fill_null(value=False))
        .group_by(REQUEST_KEY)
        .agg(n_unseen=pl.len())
    )


def unresolved_citations(quarantine: pa.Table) -> pl.DataFrame:
    """Requests with citations for which no label could be made, from ingest's quarantine.

    Columns: history_id, request_id, n_unresolved. A source that is delivered again repeats its notes: each counts once.
    """
    noted = _frame(quarantine).filter((pl.col("code") == Code.CITATION.value) & pl.col("request_id").is_not_null())
    return noted.unique([*REQUEST_KEY, "place"]).group_by(REQUEST_KEY).agg(n_unresolved=pl.len())


def _frame(table: pa.Table) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(table))

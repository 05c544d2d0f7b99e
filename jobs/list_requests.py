"""`slatemill requests`: which requests a lake has, for who wants to see one of them. Reads no more than it lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from cluster.lake import Lake
from pipeline import schemas


@dataclass(frozen=True)
class Listed:
    """The first requests of a lake, or of one history: `rows` have the columns of REQUESTS without the answer, in order
    of arrival; `total` counts all there are."""

    lake: str
    history: str | None
    rows: pl.DataFrame
    total: int

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON; times in ISO 8601, UTC."""
        asked = [
            {**row, "asked_at": None if row["asked_at"] is None else row["asked_at"].isoformat()}
            for row in self.rows.to_dicts()
        ]
        return {"lake": self.lake, "history": self.history, "total": self.total, "requests": asked}


def list_requests(lake: Lake, history: str | None = None, limit: int = 20) -> Listed:
    """At most `limit` requests of the committed batches; with `history`, only files that may hold it are opened.

    The others are counted from footers, or, of one history, by its ids. Raises SchemaMismatch.
    """
    every = lake.scan("requests", histories=None if history is None else [history], schema=schemas.REQUESTS)
    rows = every.drop("answer").head(limit).collect()
    return Listed(lake.url, history, rows, int(every.select(pl.len()).collect().item()))

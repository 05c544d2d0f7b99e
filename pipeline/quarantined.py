"""Quarantine rows of what a model made nothing of that can be used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import polars as pl
import pyarrow as pa

from pipeline.schemas import QUARANTINE

NOT_FINITE = "not_finite"
"""Code of what got a vector or a score that is not finite."""


def not_finite(
    keys: pl.DataFrame, model: str, made: Literal["vector", "score"] = "vector", *, lost: bool = True
) -> pa.Table:
    """Rows of QUARANTINE for the turns, requests or candidates that `keys` names; `model` says who made it of them.

    Notes, which count towards no limit, where no row of the stage is lost by it.
    """
    reason = f"{model}: {made} is not finite"
    rows = keys.with_columns(
        code=pl.lit(NOT_FINITE), reason=pl.lit(reason), origin=pl.lit("row"), weight=pl.lit(int(lost))
    )
    absent = [name for name in QUARANTINE.names if name not in rows.columns]
    return (
        rows.with_columns(pl.lit(None).alias(name) for name in absent)
        .to_arrow()
        .select(QUARANTINE.names)
        .cast(QUARANTINE)
    )


def notes_of(remarks: Sequence[tuple[str, str, str, str]]) -> pa.Table:
    """Rows of QUARANTINE that count towards no limit: for each history and request a code and a reason."""
    columns = ("history_id", "request_id", "code", "reason")
    rows = [{**dict(zip(columns, remark, strict=True)), "origin": "row", "weight": 0} for remark in remarks]
    return pa.Table.from_pylist(rows, QUARANTINE)

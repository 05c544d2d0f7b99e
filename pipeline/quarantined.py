"""Quarantine rows of what a model made no finite vector or score of."""

from __future__ import annotations

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

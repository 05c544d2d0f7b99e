"""Strata: the groups of requests that shares are told of apart, by the sessions that their evidence lies in."""

from __future__ import annotations

import polars as pl

STRATA: dict[str, pl.Expr] = {
    "all": pl.lit(value=True),
    "kappa = 1": pl.col("kappa") == 1,
    "kappa >= 2": pl.col("kappa") >= 2,
    "kappa >= 3": pl.col("kappa") >= 3,
}
"""By name, which rows belong to it."""

HEADLINE = ("all", "kappa >= 2")
"""Those that a comparison is judged by."""

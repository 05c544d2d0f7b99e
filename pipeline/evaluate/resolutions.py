"""What the tokens of slates are spent on: records, excerpts, raw turns, and what is put around them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl
import pyarrow as pa

RESOLUTIONS = ("record", "excerpt", "raw")
_CELL = ["history_id", "request_id", "policy", "budget"]


@dataclass(frozen=True)
class Tokens:
    """Mean tokens of `n` slates of one policy and budget, by what they show. `other` is labels, headers and marks: the
    tokens of the slate less those of its items, which are counted line by line. Tokens may reach across lines, so that
    it can come out a little below what it is."""

    policy: str
    budget: int
    n: int
    record: float
    excerpt: float
    raw: float
    other: float


def by_resolution(slates: pa.Table) -> pl.DataFrame:
    """Tokens of each slate by resolution: history_id, request_id, policy, budget, record, excerpt, raw, other.

    `slates` have at least the key, n_tokens and items of SLATES.
    """
    frame = pl.DataFrame(pl.from_arrow(slates)).select(*_CELL, "n_tokens", "items").with_row_index("slate")
    item = pl.col("items").struct
    of_items = (
        frame.select("slate", "items")
        .explode("items", empty_as_null=False)
        .select("slate", resolution=item.field("resolution"), tokens=item.field("n_tokens"))
        .group_by("slate")
        .agg(pl.col("tokens").filter(pl.col("resolution") == name).sum().alias(name) for name in RESOLUTIONS)
    )
    return (
        frame.drop("items")
        .join(of_items, on="slate", how="left", maintain_order="left")
        .with_columns(pl.col(RESOLUTIONS).fill_null(0))
        .with_columns(other=pl.col("n_tokens") - pl.sum_horizontal(RESOLUTIONS))
        .drop("slate", "n_tokens")
    )


def mean_tokens(parts: Iterable[pl.DataFrame]) -> tuple[Tokens, ...]:
    """Means over the slates of `parts` (by_resolution), by policy and budget; none where all that is shown is raw."""
    slates = pl.concat(parts)
    if slates.is_empty() or not slates.select(pl.sum_horizontal("record", "excerpt").sum()).item():
        return ()
    means = slates.group_by("policy", "budget").agg(pl.len().alias("n"), pl.col(*RESOLUTIONS, "other").mean())
    return tuple(Tokens(**row) for row in means.sort("policy", "budget").iter_rows(named=True))

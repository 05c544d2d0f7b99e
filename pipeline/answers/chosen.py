"""Which slates a reader is given: those of one policy and budget, and of some requests where not all are to be read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import polars as pl
import pyarrow as pa

from pipeline.schemas import REQUEST_KEY


def chosen(slates: pa.Table, requests: pa.Table, policy: str, budget: int, up_to: str | None) -> pa.Table:
    """The slates of a policy and budget for readers' requests whose place is no later than `up_to` (None: all)."""
    rows = pl.DataFrame(pl.from_arrow(slates.select([*REQUEST_KEY, "policy", "budget"]))).with_row_index("row")
    asked = pl.DataFrame(pl.from_arrow(requests.select([*REQUEST_KEY, "mode"]))).filter(mode="reader")
    kept = rows.filter(policy=policy, budget=budget).join(
        asked, on=list(REQUEST_KEY), how="semi", maintain_order="left"
    )
    if up_to is not None:
        places = [place(*key) for key in kept.select(REQUEST_KEY).iter_rows()]
        kept = kept.filter(pl.Series(places, dtype=pl.String) <= up_to)
    return slates.take(kept["row"].to_arrow())


def last_of(keys: Iterable[tuple[str, str]], limit: int) -> str | None:
    """The place of the last of `limit` requests (history_id, request_id); None where there are no more than these."""
    places = sorted(place(*key) for key in keys)
    return places[limit - 1] if limit < len(places) else None


def place(history_id: str, request_id: str) -> str:
    """Where a request stands in an order by the dice that is the same for every policy, and whatever else is asked."""
    return hashlib.sha256(f"{len(history_id)}:{history_id}{request_id}".encode()).hexdigest()

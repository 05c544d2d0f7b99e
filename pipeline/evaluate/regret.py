"""What a choice between two ways costs against always taking the better one, request by request."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl


@dataclass(frozen=True)
class Regret:
    """Shares of requests whose slate is complete, over `n` requests at one budget: by the choice, always the one way,
    always the other, and by whichever of the two is complete (`best`).

    The regret of a way is `best` less its share.
    """

    budget: int
    n: int
    chosen: float
    units: float
    pieces: float
    best: float
    share_of_units: float

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON, with the regret of each way."""
        regrets = {f"regret_{name}": self.best - getattr(self, name) for name in ("chosen", "units", "pieces")}
        return {**asdict(self), **regrets}


def regrets(outcomes: pl.DataFrame) -> list[Regret]:
    """A row a budget. `outcomes` has a row a request and budget: whether the slate of each way is complete (`units`,
    `pieces`), and whether units were chosen (`takes_units`)."""
    chosen = pl.when("takes_units").then("units").otherwise("pieces")
    rows = outcomes.group_by("budget").agg(
        n=pl.len(),
        chosen=chosen.cast(pl.Float64).mean(),
        units=pl.col("units").cast(pl.Float64).mean(),
        pieces=pl.col("pieces").cast(pl.Float64).mean(),
        best=(pl.col("units") | pl.col("pieces")).cast(pl.Float64).mean(),
        share_of_units=pl.col("takes_units").cast(pl.Float64).mean(),
    )
    return [Regret(**row) for row in rows.sort("budget").iter_rows(named=True)]

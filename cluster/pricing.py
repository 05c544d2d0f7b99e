"""What a stage costs, from what earlier runs and trainings of the lake took for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from cluster import snapshot
from cluster.graph import Graph
from cluster.lake import Lake

RUNS = 10
"""How many of the newest runs and trainings are looked at."""

_PLACE = ["bucket", "batch"]
_COSTS = list(snapshot.NO_COST)


@dataclass(frozen=True)
class Price:
    """Worker seconds a row of the stage's root table; of another choice (model, profile) where this one never ran.
    `more`: the other costs of cluster.snapshot.FILES a row, those that are not zero."""

    seconds_per_row: float
    of_this_choice: bool
    more: Mapping[str, float] = field(default_factory=dict)


def prices(lake: Lake, graph: Graph) -> dict[str, Price]:
    """The price of every stage that any of the newest runs or trainings has worked on, by its name."""
    runs = [pl.DataFrame(snapshot.files_of_run(lake, run_id)) for run_id in snapshot.worked_ids(lake)[:RUNS]]
    found: dict[str, Price] = {}
    if not runs:
        return found
    for index, stage in enumerate(graph.stages):
        worked = pl.concat([_worked_off(files, stage.name, graph.root(index)) for files in runs])
        own = worked.filter(pl.col("path").str.starts_with(f"{lake.folder(stage.table, stage.choice)}/"))
        rows = own if own.height else worked
        if rows.height:
            cost = rows.select(pl.col(*_COSTS).sum() / pl.col("root_rows").sum()).row(0, named=True)
            seconds = cost.pop("seconds")
            found[stage.name] = Price(seconds, own.height > 0, {name: value for name, value in cost.items() if value})
    return found


def _worked_off(files: pl.DataFrame, stage: str, root: str) -> pl.DataFrame:
    """The shards of a stage that a run has written: path, costs, and the rows of their root table."""
    written = files.filter(
        (pl.col("stage") == stage) & (pl.col("role") == "written") & (pl.col("table") != "quarantine")
    )
    roots = files.filter((pl.col("stage") == "") & (pl.col("table") == root) & (pl.col("rows") > 0))
    return written.join(roots.select(*_PLACE, root_rows="rows"), on=_PLACE).select("path", *_COSTS, "root_rows")

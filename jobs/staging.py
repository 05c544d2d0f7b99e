"""How a stage of jobs.graph is put together: what all of them have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from cluster.stage import Choice, Input, Stage
from pipeline import schemas


def stage(
    name: str,
    choice: Choice,
    schema: pa.Schema,
    inputs: Mapping[str, Input],
    primary: str,
    compute: Any,
    version: int = 1,
    table: str | None = None,
    unit: tuple[str, ...] | None = None,
    **more: Any,
) -> Stage:
    """A stage that is called like its table, unless `table` says otherwise.

    Bisection takes out turns where turns are worked on, else requests, unless `unit` names other columns.
    """
    return Stage(
        name=name,
        version=version,
        table=table or name,
        choice=choice,
        schema=schema,
        inputs=inputs,
        primary=primary,
        unit=unit or (schemas.TURN_KEY if primary == "turns" else schemas.REQUEST_KEY),
        compute=compute,
        quarantine_schema=schemas.QUARANTINE,
        **more,
    )

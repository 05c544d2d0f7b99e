"""`slatemill evaluate`: completeness of one run's slates, read from its snapshot and from nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from cluster import snapshot, tables
from cluster.batches import seq_of
from cluster.errors import LakeError
from cluster.exits import UNFINISHED
from cluster.lake import Lake
from cluster.runfiles import QUARANTINE
from jobs.ingest import INGEST
from models.registry import log_evaluation
from pipeline import schemas
from pipeline.evaluate.completeness import outcomes
from pipeline.evaluate.summary import Summary, summary

_CANDIDATE = schemas.LABELS.names
_SLATE = [name for name in schemas.SLATES.names if name != "text"]
_READ = {
    "labels": (schemas.LABELS, _CANDIDATE),
    "requests": (schemas.REQUESTS, [name for name in schemas.REQUESTS.names if name not in ("text", "answer")]),
    "sources": (schemas.SOURCES, [*schemas.TURN_KEY, "continues"]),
    "turns": (schemas.TURNS, [*schemas.TURN_KEY, "session_time"]),
    "pools": (schemas.POOLS, _CANDIDATE),
    "slates": (schemas.SLATES, _SLATE),
    "oracle_slates": (schemas.SLATES, _SLATE),
}
"""Schemas, and the columns that are read: no text, which is most of a lake."""


class RunUnfinished(LakeError):
    """The run did not make every slate, so its shares would be over those requests that happened to be answered."""


def evaluate(
    lake: Lake, profile_name: str, run_id: str | None, draws: int, seed: int
) -> tuple[Summary, dict[str, Any]]:
    """Measures the latest run of a profile, or the one named.

    Raises SnapshotStale when a file no longer carries the stamp that the snapshot lists, NoSnapshot when there is none,
    RunUnfinished when shards failed or were held back.
    """
    taken = snapshot.load(lake, run_id) if run_id else snapshot.latest(lake, profile_name)
    if taken.exit_code in UNFINISHED:
        raise RunUnfinished(
            f"run {taken.run_id} ended with code {taken.exit_code}, so slates are missing: mend what it reported, run "
            "again, then evaluate"
        )
    snapshot.verify(lake, taken)
    read = {
        name: tables.read(lake.storage, snapshot.paths_of(taken, name), schema, columns=columns)
        for name, (schema, columns) in _READ.items()
    }
    ranker = taken.identities.get("ranker") or {}
    results = outcomes(
        read["requests"],
        read["labels"],
        read["pools"],
        pa.concat_tables([read["slates"], read["oracle_slates"]]),
        read["sources"],
        read["turns"],
        tables.read(lake.storage, snapshot.paths_of(taken, QUARANTINE, INGEST), schemas.QUARANTINE),
        arrived(lake, taken),
        taken.config["as_of"],
    )
    without_slate = pl.DataFrame(read["requests"]).join(results, on=schemas.REQUEST_KEY, how="anti")
    about = {
        "run_id": taken.run_id,
        "profile": taken.profile,
        "ranker": ranker.get("identity"),
        "ranker_source": ranker.get("source"),
        "style": taken.config["slates"]["style"],
        "requests_without_slate": without_slate.height,
        "pool_size": taken.config["recall"]["pool_size"],
    }
    measured = summary(results, seen_histories=ranker.get("seen_histories", []), draws=draws, seed=seed)
    return measured, about


def arrived(lake: Lake, taken: snapshot.Snapshot) -> pl.DataFrame:
    """In which batch each request of a run came: columns history_id, request_id and seq."""
    files = pl.DataFrame(taken.files).filter(pl.col("table") == "requests").unique("path", maintain_order=True)
    columns = list(schemas.REQUEST_KEY)
    parts = [pl.DataFrame(schema={**dict.fromkeys(columns, pl.String), "seq": pl.Int64})]
    for path, batch in files.select("path", "batch").iter_rows():
        keys = pl.DataFrame(tables.read(lake.storage, [path], schemas.REQUESTS, columns=columns))
        parts.append(keys.with_columns(seq=pl.lit(seq_of(batch), pl.Int64)))
    return pl.concat(parts)


def log(measured: Summary, about: Mapping[str, Any]) -> str:
    """Logs an evaluation to MLflow; returns its run id."""
    params = {**about, "n_requests": measured.n_requests, "draws": measured.draws, "seed": measured.seed}
    table = json.dumps({**about, **measured.as_dict()}, indent=2)
    return log_evaluation(measured.metrics(), params, {"evaluation.json": table})

"""`slatemill evaluate`: completeness of one run's slates, read from its snapshot and from nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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
from jobs.rankings import RANKINGS, ranking_paths
from models.registry import log_evaluation
from pipeline import schemas
from pipeline.evaluate.completeness import outcomes
from pipeline.evaluate.summary import Summary, summary
from pipeline.recall.options import PoolOptions

_CANDIDATE = schemas.LABELS.names
_SLATE = [name for name in schemas.SLATES.names if name != "text"]
_ASKED = [name for name in schemas.REQUESTS.names if name not in ("text", "answer")]
_READ = {
    "labels": (schemas.LABELS, _CANDIDATE),
    "sources": (schemas.SOURCES, [*schemas.TURN_KEY, "continues"]),
    "turns": (schemas.TURNS, [*schemas.TURN_KEY, "session_time"]),
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
    results, without_slate = finished_outcomes(lake, taken)
    ranker = taken.identities.get("ranker") or {}
    about = {
        "run_id": taken.run_id,
        "profile": taken.profile,
        "ranker": ranker.get("identity"),
        "ranker_source": ranker.get("source"),
        "style": taken.config["slates"]["style"],
        "requests_without_slate": without_slate,
        "pool_size": taken.config["recall"]["pool_size"],
    }
    measured = summary(results, seen_histories=ranker.get("seen_histories", []), draws=draws, seed=seed)
    return measured, about


def finished_outcomes(lake: Lake, taken: snapshot.Snapshot) -> tuple[pl.DataFrame, int]:
    """As run_outcomes, of a run that made every slate and whose files are still as they were.

    Raises RunUnfinished, SnapshotStale.
    """
    if taken.exit_code in UNFINISHED:
        raise RunUnfinished(
            f"run {taken.run_id} of profile {taken.profile} ended with code {taken.exit_code}, so slates are missing: "
            "mend what it reported, run again, then evaluate"
        )
    snapshot.verify(lake, taken)
    return run_outcomes(lake, taken)


def run_outcomes(lake: Lake, taken: snapshot.Snapshot) -> tuple[pl.DataFrame, int]:
    """What became of every slate that a run lists (see completeness.outcomes), and how many requests have no slate."""
    read = {
        name: tables.read(lake.storage, snapshot.paths_of(taken, name), schema, columns=columns)
        for name, (schema, columns) in _READ.items()
    }
    scored = PoolOptions.model_validate(taken.config["recall"]).scored
    pools = tables.read(lake.storage, snapshot.paths_of(taken, "pools"), schemas.pools(scored), columns=_CANDIDATE)
    requests = with_batch(lake, taken, "requests", schemas.REQUESTS, _ASKED)
    results = outcomes(
        requests.drop("seq").to_arrow(),
        read["labels"],
        pools,
        pa.concat_tables([read["slates"], read["oracle_slates"]]),
        read["sources"],
        read["turns"],
        with_batch(lake, taken, QUARANTINE, schemas.QUARANTINE, stage=INGEST),
        requests.select(*schemas.REQUEST_KEY, "seq"),
        taken.config["as_of"],
        {
            name: tables.read(lake.storage, paths, schemas.RANKINGS)
            for name, paths in ranking_paths(snapshot.paths_of(taken, RANKINGS)).items()
        },
        evidence_texts(lake, taken, read["labels"]),
    )
    return results, requests.join(results, on=schemas.REQUEST_KEY, how="anti").height


def evidence_texts(lake: Lake, taken: snapshot.Snapshot, labels: pa.Table) -> pa.Table:
    """Key and text of the turns that are evidence (LABELS); a file of turns at a time, for text is most of a lake."""
    columns = [*schemas.TURN_KEY, "text"]
    wanted = pl.DataFrame(labels).select(schemas.TURN_KEY).unique()
    found = [pl.DataFrame(schemas.TURNS.empty_table().select(columns))]
    for path in snapshot.paths_of(taken, "turns") if wanted.height else ():
        turns = pl.DataFrame(tables.read(lake.storage, [path], schemas.TURNS, columns=columns))
        found.append(turns.join(wanted, on=schemas.TURN_KEY, how="semi"))
    return pl.concat(found).to_arrow()


def with_batch(
    lake: Lake,
    taken: snapshot.Snapshot,
    table: str,
    schema: pa.Schema,
    columns: Sequence[str] | None = None,
    stage: str | None = None,
    history_ids: Sequence[str] | None = None,
) -> pl.DataFrame:
    """The rows of a table (of one stage, of some histories) that a run lists, with the `seq` of the batch of each."""
    files = pl.DataFrame(taken.files).select("path", "batch").unique("path")
    batch_of = dict(files.iter_rows())
    kept = schema if columns is None else pa.schema([schema.field(name) for name in columns])
    parts = [pl.DataFrame(pl.from_arrow(kept.empty_table())).with_columns(seq=pl.lit(0, pl.Int64))]
    for path in snapshot.paths_of(taken, table, stage):
        rows = tables.read(lake.storage, [path], schema, history_ids, columns)
        parts.append(pl.DataFrame(pl.from_arrow(rows)).with_columns(seq=pl.lit(seq_of(batch_of[path]), pl.Int64)))
    return pl.concat(parts)


def log(measured: Summary, about: Mapping[str, Any]) -> str:
    """Logs an evaluation to MLflow; returns its run id."""
    params = {**about, "n_requests": measured.n_requests, "draws": measured.draws, "seed": measured.seed}
    table = json.dumps({**about, **measured.as_dict()}, indent=2)
    return log_evaluation(measured.metrics(), params, {"evaluation.json": table})

"""`slatemill evaluate`: completeness of one run's slates, read from its snapshot and from nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pyarrow as pa

from cluster import snapshot, tables
from cluster.batches import seq_of
from cluster.errors import LakeError
from cluster.exits import UNFINISHED
from cluster.lake import Lake
from cluster.runfiles import QUARANTINE
from jobs.answer_sets import summarised
from jobs.costs import metrics
from jobs.ingest import INGEST
from jobs.rankings import RANKINGS, ranking_paths
from models.registry import log_evaluation
from pipeline import schemas
from pipeline.evaluate.best_piece import PAIR, best_piece_ranks, by_best_piece
from pipeline.evaluate.completeness import outcomes
from pipeline.evaluate.displayed import displayed, displays, files_asked, told_displayed
from pipeline.evaluate.of_memory import OfMemory
from pipeline.evaluate.paired import Difference
from pipeline.evaluate.resolutions import by_resolution, mean_tokens
from pipeline.evaluate.reuse import reuse, shown_strings, strings_in_use
from pipeline.evaluate.summary import Summary, summary
from pipeline.memory.options import MemoryOptions
from pipeline.recall.options import PoolOptions

_CANDIDATE = schemas.LABELS.names
_SLATE = [name for name in schemas.SLATES.names if name != "text"]
_ASKED = [name for name in schemas.REQUESTS.names if name not in ("text", "answer")]
_READ = {
    "labels": (schemas.LABELS, _CANDIDATE),
    "sources": (schemas.SOURCES, [*schemas.TURN_KEY, "continues"]),
    "turns": (schemas.TURNS, [*schemas.TURN_KEY, "session_time"]),
    **dict.fromkeys(schemas.SLATE_TABLES, (schemas.SLATES, _SLATE)),
}
"""Schemas, and the columns that are read: no text, which is most of a lake."""
_MEASURED = ("slates", "llm_slates")
"""The tables of slates of which more is measured than completeness: all but the oracle's."""
_SAID = [*schemas.TURN_KEY, "role", "text"]


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
        "cost": taken.cost,
    }
    learned_from = ranker.get("seen_histories", [])
    measured = summary(results, seen_histories=learned_from, draws=draws, seed=seed)
    counted = (pl.col("n_evidence") > 0) & ~pl.col("adversarial") & ~pl.col("history_id").is_in(learned_from)
    remembered = of_memory(lake, taken, results.filter(counted), draws, seed)
    answered = summarised(lake, taken, learned_from, draws, seed)
    return replace(measured, memory=remembered, answers=answered), about


def of_memory(
    lake: Lake,
    taken: snapshot.Snapshot,
    results: pl.DataFrame,
    draws: int,
    seed: int,
    pair: tuple[str, str] = PAIR,
) -> OfMemory:
    """What is measured of slates of memory beside their completeness; of what a run lacks, nothing.

    `results` are outcomes of the requests that count. Tokens are of all slates; of agents all requests count, whether
    or not their evidence is known.
    """
    parts = list(_by_bucket(taken))
    has_memory = taken.config.get("memory") is not None
    tokens = [by_resolution(_slates(lake, part, _SLATE)) for part in parts if has_memory]
    differences = _by_best_piece(lake, taken, parts, results, pair, draws, seed) if has_memory else []
    strings, files = _of_agents(lake, parts)
    return OfMemory(
        tokens=mean_tokens(tokens) if tokens else (),
        pair=pair if differences else None,
        best_piece=tuple(differences),
        reuse=reuse(strings, draws, seed) if strings else (),
        displayed=displayed(files, draws, seed) if files else (),
    )


def _by_best_piece(
    lake: Lake,
    taken: snapshot.Snapshot,
    parts: Sequence[snapshot.Snapshot],
    results: pl.DataFrame,
    pair: tuple[str, str],
    draws: int,
    seed: int,
) -> list[Difference]:
    """As pipeline.evaluate.best_piece says, where the run has both policies and any of their requests counts."""
    ours, theirs = pair
    if not {ours, theirs} <= set(results["policy"].unique()):
        return []
    cut = MemoryOptions.model_validate(taken.config["memory"]).cut
    ranks = []
    for part in parts:
        requests = with_batch(lake, part, "requests", schemas.REQUESTS, [*_ASKED, "text"])
        counted = requests.join(results, on=schemas.REQUEST_KEY, how="semi")
        labels, turns, units, pieces = (_read(lake, part, name) for name in ("labels", "turns", "units", "pieces"))
        ranks.append(best_piece_ranks(counted, labels, turns, units, pieces, cut, taken.config["as_of"]))
    return by_best_piece(results, pl.concat(ranks), ours, theirs, draws, seed)


def _of_agents(lake: Lake, parts: Sequence[snapshot.Snapshot]) -> tuple[list[pl.DataFrame], list[pl.DataFrame]]:
    """shown_strings and told_displayed of the requests of agents, bucket by bucket; none where there are none."""
    asked = [(part, requests) for part in parts if (requests := _agents(lake, part)).height]
    elsewhere = [displays(_turns_of(lake, part, requests)) for part, requests in asked]
    strings, files = [], []
    for part, requests in asked:
        turns = _turns_of(lake, part, requests)
        slates = _slates(lake, part)
        strings.append(shown_strings(strings_in_use(requests, turns), slates))
        files.append(told_displayed(files_asked(requests, turns, pl.concat(elsewhere)), slates, turns))
    return strings, files


def _agents(lake: Lake, part: snapshot.Snapshot) -> pl.DataFrame:
    """The requests of agents (REQUESTS, without text and answer)."""
    return pl.DataFrame(_read(lake, part, "requests", _ASKED)).filter(mode="agent")


def _turns_of(lake: Lake, part: snapshot.Snapshot, requests: pl.DataFrame) -> pl.DataFrame:
    """Who said what in the histories that requests ask about."""
    return pl.DataFrame(_read(lake, part, "turns", _SAID, requests["history_id"].unique().to_list()))


def _by_bucket(taken: snapshot.Snapshot) -> Iterator[snapshot.Snapshot]:
    """A run bucket by bucket, of those that have slates: histories lie in one each, so that no more need fit."""
    files = pl.DataFrame(taken.files)
    for bucket in files.filter(pl.col("table").is_in(_MEASURED))["bucket"].unique().sort():
        yield replace(taken, files=files.filter(bucket=bucket).to_arrow())


def _slates(lake: Lake, part: snapshot.Snapshot, columns: Sequence[str] | None = None) -> pa.Table:
    """The slates of a run but for the oracle's."""
    return pa.concat_tables([_read(lake, part, name, columns) for name in _MEASURED])


def _read(
    lake: Lake,
    part: snapshot.Snapshot,
    name: str,
    columns: Sequence[str] | None = None,
    history_ids: Sequence[str] | None = None,
) -> pa.Table:
    """A table of which the schema has no parameter."""
    schema = schemas.TABLES[name].schema_for(())
    return tables.read(lake.storage, snapshot.paths_of(part, name), schema, history_ids, columns)


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
        pa.concat_tables([read[name] for name in schemas.SLATE_TABLES]),
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
    """Logs an evaluation to MLflow, and what the run that is evaluated cost; returns its run id."""
    params = {**about, "n_requests": measured.n_requests, "draws": measured.draws, "seed": measured.seed}
    cost = params.pop("cost")
    table = json.dumps({**about, **measured.as_dict()}, indent=2)
    return log_evaluation(measured.metrics() | metrics(cost), params, {"evaluation.json": table})

"""The answers that a lake holds to the slates of one run, and the judgements of them, found by their footers."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cluster import snapshot, tables
from cluster.batches import Batch, committed
from cluster.errors import LakeError
from cluster.exits import UNFINISHED
from cluster.lake import Lake
from cluster.stage import Choice
from jobs.answer_stages import ANSWERS, SLATES, Cell
from pipeline import schemas
from pipeline.answers.summary import AnswerRow, answer_rows

Shard = tuple[int, str]
"""A bucket and the name of a batch."""
_NAMED = ["policy", "budget", "shape", "reader"]
_SCORED = [name for name in schemas.ANSWERS.names if name not in ("notes", "reason")]
_LABELLED = [name for name in schemas.JUDGEMENTS.names if name not in ("text", "reason")]


class NothingAnswered(LakeError):
    """There is nothing to answer from, or to judge; the message says what is there and what to do."""


@dataclass(frozen=True)
class AnswerSet:
    """One set of answers: its files by shard, and what it is of."""

    choice: Choice
    paths: Mapping[Shard, str]
    policy: str
    budget: int
    shape: str
    reader: str
    rows: int


def finished_run(lake: Lake, profile: str) -> snapshot.Snapshot:
    """The latest run of a profile, whose slates are whole and as they were.

    Raises NoSnapshot, NothingAnswered where slates are missing, SnapshotStale.
    """
    taken = snapshot.latest(lake, profile)
    if taken.exit_code in UNFINISHED:
        raise NothingAnswered(
            f"run {taken.run_id} of profile {profile} ended with code {taken.exit_code}, so slates are missing: "
            "mend what it reported, and run again"
        )
    snapshot.verify(lake, taken, only=(*schemas.SLATE_TABLES, "requests"))
    return taken


def batches_of(lake: Lake, taken: snapshot.Snapshot) -> list[Batch]:
    """The batches that a run had slates of: what came later is none of its business."""
    names = set(_files(taken, schemas.SLATE_TABLES)["batch"])
    return [batch for batch in committed(lake) if batch.name in names]


def cells_of(lake: Lake, taken: snapshot.Snapshot) -> list[Cell]:
    """The policies and budgets that a run has slates of, in order."""
    found = [
        Cell(policy, budget, table)
        for table in schemas.SLATE_TABLES
        for policy, budget in _distinct(lake, snapshot.paths_of(taken, table), table, ["policy", "budget"])
    ]
    return sorted(found)


def require_known(what: str, asked: Collection[object], known: Collection[object]) -> None:
    """Raises NothingAnswered for what is asked for and is not there."""
    if lacking := [str(value) for value in asked if value not in known]:
        there = ", ".join(sorted(map(str, known))) or "none"
        raise NothingAnswered(f"no {what} {', '.join(lacking)}; there are: {there}")


def answer_sets(lake: Lake, taken: snapshot.Snapshot) -> list[AnswerSet]:
    """The sets that answer the slates of a run, all of them, as they are now; the largest first."""
    of_run: dict[Shard, set[str]] = {}
    for bucket, batch, digest in _files(taken, schemas.SLATE_TABLES).select("bucket", "batch", "digest").iter_rows():
        of_run.setdefault((bucket, batch), set()).add(digest)
    found = []
    for choice in lake.choices("answers"):
        paths = _made_of(lake, "answers", choice, SLATES, of_run)
        named = _distinct(lake, list(paths.values()), "answers", _NAMED) if paths else []
        if named:
            rows = sum(mark.rows for path in paths.values() if (mark := tables.read_mark(lake.storage, path)))
            policy, budget, shape, reader = named[0]
            found.append(AnswerSet(choice, paths, policy, budget, shape, reader, rows))
    return sorted(found, key=lambda one: (-one.rows, one.choice))


def summarised(
    lake: Lake, taken: snapshot.Snapshot, without: Collection[str], draws: int, seed: int
) -> tuple[AnswerRow, ...]:
    """How good the answers to a run's slates are, without those of the histories in `without`."""
    sets = answer_sets(lake, taken)
    if not sets:
        return ()
    requests = _read(lake, snapshot.paths_of(taken, "requests"), "requests", None)
    kept = requests.filter(~pl.col("history_id").is_in(list(without)))
    answers = pl.concat(
        [_read(lake, one.paths.values(), "answers", _SCORED, of=place) for place, one in enumerate(sets)]
    )
    # Part of a set may be answered again in a larger one: each answer counts once, with its own judgements.
    answers = answers.unique(schemas.ANSWER_KEY, keep="first", maintain_order=True)
    answers = answers.join(kept, on=list(schemas.REQUEST_KEY), how="semi")
    judgements = pl.concat(
        [
            _read(lake, [], "judgements", _LABELLED, of=0),
            *(
                _read(lake, paths.values(), "judgements", _LABELLED, of=place)
                for place, one in enumerate(sets)
                for paths in _judged(lake, one)
            ),
        ]
    )
    judgements = judgements.join(answers, on=[*schemas.ANSWER_KEY, "set"], how="semi")
    once = judgements.unique([*schemas.ANSWER_KEY, "judge", "judging"], keep="first", maintain_order=True)
    return answer_rows(answers.drop("set"), requests, once.drop("set"), draws, seed)


def _judged(lake: Lake, one: AnswerSet) -> Iterator[Mapping[Shard, str]]:
    """The files of each set of judgements of a set of answers."""
    marks = {shard: tables.read_mark(lake.storage, path) for shard, path in one.paths.items()}
    digests = {shard: {mark.digest} for shard, mark in marks.items() if mark is not None}
    for choice in lake.choices("judgements"):
        if choice[1].startswith(f"{one.choice[1]}-"):
            yield _made_of(lake, "judgements", choice, ANSWERS, digests)


def _made_of(
    lake: Lake, table: str, choice: Choice, source: str, digests: Mapping[Shard, Collection[str]]
) -> dict[Shard, str]:
    """The files of a choice, where there is one for each shard that was made of an input of one of these digests."""
    there = {info.path for info in lake.storage.list(lake.folder(table, choice), ".parquet")}
    paths = {shard: lake.path(table, *shard, choice) for shard in digests}
    for shard, path in paths.items():
        noted = json.loads(tables.read_parts(lake.storage, path) or "{}") if path in there else {}
        made_of = noted.get("inputs", {}).get(source)
        if made_of is None or not any(digest.startswith(made_of) for digest in digests[shard]):
            return {}
    return paths


def _files(taken: snapshot.Snapshot, names: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(taken.files).filter(pl.col("table").is_in(names)).unique("path")


def _distinct(lake: Lake, paths: Sequence[str], table: str, columns: list[str]) -> list[tuple[Any, ...]]:
    rows = tables.read(lake.storage, paths, schemas.TABLES[table].schema_for(()), columns=columns)
    return pl.DataFrame(rows).unique().sort(columns).rows()


def _read(
    lake: Lake, paths: Collection[str], table: str, columns: list[str] | None, of: int | None = None
) -> pl.DataFrame:
    """Rows of files of a table; with `of` in a column `set`."""
    rows = pl.DataFrame(tables.read(lake.storage, list(paths), schemas.TABLES[table].schema_for(()), columns=columns))
    return rows if of is None else rows.with_columns(set=pl.lit(of, pl.Int32))

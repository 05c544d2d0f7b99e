"""`slatemill answer`: a language model answers the requests of a profile's latest run from their slates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import polars as pl

from cluster import snapshot, tables
from cluster.batches import Batch
from cluster.cache import MarkCache
from cluster.lake import Lake
from cluster.plan import Plan, State
from cluster.report import RunReport
from cluster.stage import Stage
from jobs.answer_sets import NothingAnswered, batches_of, cells_of, finished_run, require_known
from jobs.answer_stages import Cell, answer_stage
from jobs.config import Profile
from jobs.run import Resources, execute_stages
from jobs.served import Served
from pipeline import schemas
from pipeline.answers.chosen import last_of


@dataclass(frozen=True)
class Wanted:
    """Which slates are answered (empty: those of every policy, every budget), how, how often, and for how many requests
    (None: all)."""

    policies: tuple[str, ...] = ()
    budgets: tuple[int, ...] = ()
    shape: str = "longmemeval"
    repeats: int = 1
    limit: int | None = None


@dataclass(frozen=True)
class Answered:
    """What came of it: the report of the stages, the id that their files are listed under, and counts of the answers
    that there are now."""

    report: RunReport
    run_id: str
    answers: int
    failed: int


def answer(lake: Lake, profile: Profile, wanted: Wanted, reader: Served, resources: Resources) -> Answered:
    """Brings the answers up to date that are wanted. What was answered and is out of date since needs a back-fill.

    Raises NothingAnswered where the run has no such slates, and what jobs.answer_sets.finished_run raises.
    """
    taken = finished_run(lake, profile.name)
    cells = _wanted_cells(lake, taken, wanted)
    limit = None if wanted.limit is None else _limit(lake, taken, wanted.limit)
    stages = [answer_stage(profile.name, cell, wanted.shape, wanted.repeats, reader, limit) for cell in cells]
    report, run_id = work_off(lake, profile, stages, batches_of(lake, taken), resources)
    made = pl.DataFrame(report.files).filter(pl.col("table") == "answers", pl.col("role") != "read")["path"].unique()
    rows = pl.DataFrame(tables.read(lake.storage, made.to_list(), schemas.ANSWERS, columns=["status"]))
    return Answered(report, run_id, rows.height, rows.filter(status="failed").height)


def work_off(
    lake: Lake, profile: Profile, stages: Sequence[Stage], batches: Sequence[Batch], resources: Resources
) -> tuple[RunReport, str]:
    """Runs stages that a person asked for by name; returns the report, and the id under which the files are listed.

    Who asks for a set of answers wants it beside those that are there: only what is out of date needs a back-fill.
    """
    plan = Plan(lake, stages, batches, resources.backfill, MarkCache())
    left = list(plan.shards(State.NEEDS_BACKFILL))
    stale = {plan.stage(shard).name for shard in left if plan.is_there(shard)}
    new = {plan.stage(shard).name for shard in left} - stale
    run_id = snapshot.new_run_id(datetime.now(UTC))
    asked = replace(resources, backfill=(*resources.backfill, *sorted(new)))
    report = execute_stages(lake, profile, stages, asked, run_id, batches)
    snapshot.write_files(lake, run_id, report.files)
    return report, run_id


def _wanted_cells(lake: Lake, taken: snapshot.Snapshot, wanted: Wanted) -> list[Cell]:
    cells = cells_of(lake, taken)
    require_known("slates of policy", wanted.policies, {cell.policy for cell in cells})
    require_known("slates of budget", wanted.budgets, {cell.budget for cell in cells})
    if not cells:
        raise NothingAnswered(
            f"run {taken.run_id} of profile {taken.profile} has no slates: ingest requests, run again"
        )
    return [
        cell
        for cell in cells
        if cell.policy in (wanted.policies or (cell.policy,)) and cell.budget in (wanted.budgets or (cell.budget,))
    ]


def _limit(lake: Lake, taken: snapshot.Snapshot, limit: int) -> tuple[int, str] | None:
    """As jobs.answer_stages takes it; None where there are no more requests than that."""
    paths = snapshot.paths_of(taken, "requests")
    columns = [*schemas.REQUEST_KEY, "mode"]
    rows = pl.DataFrame(tables.read(lake.storage, paths, schemas.REQUESTS, columns=columns)).filter(mode="reader")
    last = last_of(rows.select(schemas.REQUEST_KEY).iter_rows(), limit)
    return None if last is None else (limit, last)

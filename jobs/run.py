"""`slatemill run`: brings every slate of a profile up to date, and leaves a snapshot of what was read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cluster import snapshot, tables
from cluster.batches import Batch, committed
from cluster.cache import MarkCache
from cluster.errors import LakeError
from cluster.executor import RunReport, execute
from cluster.exits import QUARANTINE_LIMIT
from cluster.heartbeat import Heartbeat
from cluster.lake import Lake
from cluster.progress import Together, progress_for
from cluster.runfiles import QUARANTINE
from cluster.stage import Stage
from jobs.config import Profile
from jobs.costs import costs
from jobs.graph import stages
from jobs.ingest import INGEST
from jobs.ranker_suits import require_own_scores
from jobs.rankings import require_rankings
from jobs.teacher_stages import teacher_of_run
from models.ranker import LightGBMRanker
from pipeline import schemas

_JUDGED_BY = ("labels", "sources")
_COUNTED = ("slates", "llm_slates")


@dataclass(frozen=True)
class Resources:
    """Where a run runs, and how much it may cost: nothing of this affects what is written."""

    workers: int | None = None
    address: str | None = None
    backfill: tuple[str, ...] = ()
    deadline_s: float = 1800.0
    quarantine_limit: float = QUARANTINE_LIMIT


class RunFailed(RuntimeError):
    """A run that training or a demo needs did not end well; `report` says why."""

    def __init__(self, report: RunReport) -> None:
        failed = [f"{failure.place}: {failure.reason}" for failure in report.failures]
        missing = [f"give --backfill {stage.name}" for stage in report.stages if stage.needs_backfill]
        over = [f"quarantine of {name} is over the limit" for name in report.over_quarantine]
        super().__init__("; ".join([*failed, *missing, *over]))
        self.report = report


def run(
    lake: Lake, profile: Profile, resources: Resources, ranker: LightGBMRanker | None, ranker_source: str | None
) -> tuple[RunReport, str]:
    """Runs every stage of a profile and writes the run's snapshot; returns the report and the run_id.

    Raises RankingNotThere where the lake lacks a ranking that the profile names, PolicyError and RankerError as
    jobs.graph.stages, RankerError also for a ranker of other scores.
    """
    require_rankings(lake, profile)
    started = datetime.now(UTC)
    run_id = snapshot.new_run_id(started)
    path = stages(profile, lake.tokenizer, ranker, teacher_of_run(profile))
    if ranker is not None and any(ranker.identity in stage.identities for stage in path):
        require_own_scores(ranker, profile, path)
    report = execute_stages(lake, profile, path, resources, run_id)
    identities = {}
    if ranker is not None:
        identities["ranker"] = {
            "identity": ranker.identity,
            "source": ranker_source,
            "seen_histories": list(ranker.seen_histories),
        }
    snapshot.write(
        lake,
        snapshot.Snapshot(
            run_id=run_id,
            profile=profile.name,
            started=started,
            ended=datetime.now(UTC),
            exit_code=report.exit_code,
            config=profile.model_dump(mode="json"),
            identities=identities,
            counts=report.counts(),
            cost={
                "worker_seconds": report.worker_seconds,
                "gpu_seconds": report.gpu_seconds,
                **costs(profile, report.stages),
            },
            files=pa.concat_tables([_without(report.files, _JUDGED_BY), _judged_by(lake, MarkCache())]),
        ),
        report.failures,
    )
    return report, run_id


def empty_slates(lake: Lake, report: RunReport) -> pl.DataFrame:
    """How many of the slates that a run made hold nothing: columns budget, slates and empty, for budgets
    that have any. Slates of the oracle do not count: without known evidence it has nothing to choose."""
    made = pl.DataFrame(report.files).filter(pl.col("table").is_in(_COUNTED), pl.col("role") == "written")
    slates = pl.DataFrame(
        tables.read(lake.storage, made["path"].to_list(), schemas.SLATES, columns=["budget", "n_tokens"])
    )
    counted = slates.group_by("budget").agg(slates=pl.len(), empty=(pl.col("n_tokens") == 0).sum())
    return counted.filter(pl.col("empty") > 0).sort("budget")


def _judged_by(lake: Lake, cache: MarkCache) -> pa.Table:
    """Snapshot rows of labels, sources and what ingest put aside: no slate but the oracle's is made of them, every
    evaluation is."""
    rows = []
    put_aside = {info.path for info in lake.storage.list(f"{QUARANTINE}/{INGEST}", ".parquet")}
    for batch in committed(lake):
        for bucket in batch.buckets:
            place = {"bucket": bucket, "batch": batch.name}
            for table in _JUDGED_BY:
                path = lake.path(table, bucket, batch.name)
                rows.append({**place, **_read(lake, path, cache), "stage": "", "table": table})
            aside = lake.quarantine_path(INGEST, bucket, batch.name)
            if aside in put_aside:
                rows.append({**place, **_read(lake, aside, cache), "stage": INGEST, "table": QUARANTINE})
    return pa.Table.from_pylist(rows, snapshot.FILES)


def _read(lake: Lake, path: str, cache: MarkCache) -> dict[str, object]:
    mark = tables.read_mark(lake.storage, path, cache)
    if mark is None:
        raise LakeError(f"{path} is missing, though its batch is committed: restore it")
    found = {"path": path, "stamp": mark.stamp, "digest": mark.digest, "rows": mark.rows}
    return {**found, "role": "read", "quarantined": 0, **snapshot.NO_COST}


def _without(files: pa.Table, names: Sequence[str]) -> pa.Table:
    return files.filter(pc.invert(pc.is_in(files["table"], pa.array(names, pa.large_string()))))


def execute_stages(
    lake: Lake,
    profile: Profile,
    path: Sequence[Stage],
    resources: Resources,
    run_id: str,
    batches: Sequence[Batch] | None = None,
) -> RunReport:
    """Runs the given stages over the given batches (None: all committed), with progress on the terminal or in the log,
    and in the lake for `slatemill status`."""
    heartbeat = Heartbeat(lake.storage, run_id, profile.name)
    progress = Together(progress_for(title=profile.name), heartbeat)
    return execute(
        lake,
        path,
        committed(lake) if batches is None else batches,
        workers=resources.workers,
        address=resources.address,
        backfill=resources.backfill,
        deadline_s=resources.deadline_s,
        quarantine_limit=resources.quarantine_limit,
        progress=progress,
        cache=MarkCache(),
    )

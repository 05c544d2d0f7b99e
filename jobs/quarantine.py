"""`slatemill quarantine`: what could not be processed, and taking back what bisection took out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa

from cluster import quarantine, tables
from cluster.batches import committed
from cluster.errors import NoSuchStage
from cluster.hints import command
from cluster.lake import BUCKET_FILE, Lake
from cluster.runfiles import QUARANTINE
from cluster.stage import Choice, Stage
from jobs.config import Profile
from jobs.graph import stages, token_stage
from jobs.ingest import INGEST
from jobs.rankings import RANKINGS
from pipeline import schemas
from pipeline.recall.options import ENCODERS

_STAGES = {
    INGEST,
    *schemas.TABLES,  # most stages are called as the table that they write
    *(token_stage(encoder, table) for encoder in ENCODERS for table in ("turn_tokens", "request_tokens")),
}
_PATH = re.compile(rf"{QUARANTINE}/(?P<stage>[^/]+)/(?:(?P<choice>[^/=]+=[^/]+)/)?{BUCKET_FILE}")


@dataclass(frozen=True)
class Group:
    """Quarantine rows with one stage, choice ("" for ingest), code and reason: how many, the rows that are `lost` (the
    others are notes), and in how many shards."""

    stage: str
    choice: str
    code: str
    reason: str
    rows: int
    lost: int
    shards: int

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Requeued:
    """What was taken back: units, of so many shards; `costly` where their stage is done only when it is named."""

    stage: str
    units: int
    shards: int
    costly: bool

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        return asdict(self)


class _File(NamedTuple):
    path: str
    stage: str
    choice: str
    bucket: int
    batch: str


def kept_aside(lake: Lake, stage: str | None = None, profile: Profile | None = None) -> list[Group]:
    """Counts of what is in quarantine, by stage, choice, code and reason; of one stage, or of what a profile uses.

    Raises NoSuchStage for a stage that there is not.
    """
    rows = _rows(lake, stage, profile)
    of_group = ["stage", "choice", "code", "reason"]
    counted = rows.group_by(of_group).agg(
        rows=pl.len(), lost=pl.col("weight").sum(), shards=pl.struct("bucket", "batch").n_unique()
    )
    ordered = counted.sort("stage", "choice", "code", "rows", "reason", descending=[False, False, False, True, False])
    return [Group(**row) for row in ordered.to_dicts()]


def rows_aside(lake: Lake, stage: str | None = None, code: str | None = None) -> pl.DataFrame:
    """The rows themselves: stage, choice, batch, bucket, and the columns of QUARANTINE; in order of arrival.

    Raises NoSuchStage for a stage that there is not.
    """
    rows = _rows(lake, stage, None)
    if code is not None:
        rows = rows.filter(pl.col("code") == code)
    return rows.sort("stage", "choice", "batch", "bucket", maintain_order=True)


def requeue(lake: Lake, profile: Profile, stage: str) -> Requeued:
    """Takes the crashed units of a stage back in: their shards are stale from now on, and a run computes them anew.

    What a stage itself refused stays, for it would be refused again. Raises NoSuchStage.
    """
    if stage == INGEST:
        raise NoSuchStage("what ingest lost cannot be requeued: mend the source, and ingest it again")
    of_profile = {made.name: made for made in _stages(lake, profile)}
    if stage not in of_profile:
        raise NoSuchStage(f"profile {profile.name} has no stage {stage}; it has {', '.join(of_profile)}")
    made = of_profile[stage]
    units = shards = 0
    for file in _files(lake, stage):
        if file.choice != _shown(made.choice):
            continue
        taken = _take_back(lake, made, file.path)
        units, shards = units + taken, shards + (taken > 0)
    return Requeued(stage, units, shards, made.costly)


def _take_back(lake: Lake, stage: Stage, path: str) -> int:
    rows = quarantine.read(lake.storage, path, stage)
    units = quarantine.crashed_units(rows, stage).height
    if units:
        frame = pl.DataFrame(rows)
        kept = rows.filter(frame["origin"].ne(quarantine.CRASH).to_arrow())
        quarantine.replace(lake.storage, path, kept, stage, "")
    return units


def _stages(lake: Lake, profile: Profile) -> list[Stage]:
    """The stages of a profile whether there is a ranker or not: no stage is left out for want of a policy."""
    always = ("recall_order", "oracle", *profile.llm_policies)
    policies = profile.slates.model_copy(update={"policies": always})
    return stages(profile.model_copy(update={"slates": policies}), lake.tokenizer)


def _rows(lake: Lake, stage: str | None, profile: Profile | None) -> pl.DataFrame:
    choices = None if profile is None else _choices(lake, profile)
    files = [file for file in _files(lake, stage) if choices is None or (file.stage, file.choice) in choices]
    parts = [_frame(schemas.QUARANTINE.empty_table(), _File("", "", "", 0, ""))]
    parts += [_frame(tables.read(lake.storage, [file.path], schemas.QUARANTINE), file) for file in files]
    return pl.concat(parts)


def _frame(rows: pa.Table, file: _File) -> pl.DataFrame:
    place = [pl.lit(file.stage).alias("stage"), pl.lit(file.choice).alias("choice"), pl.lit(file.batch).alias("batch")]
    return pl.DataFrame(rows).select(*place, pl.lit(file.bucket, pl.Int32).alias("bucket"), pl.all())


def _choices(lake: Lake, profile: Profile) -> Collection[tuple[str, str]]:
    imported = {(RANKINGS, _shown(("policy", name))) for name in profile.rankings}
    return {(INGEST, ""), *imported, *((made.name, _shown(made.choice)) for made in _stages(lake, profile))}


def _files(lake: Lake, stage: str | None) -> Iterator[_File]:
    """The quarantine files of committed batches."""
    if stage is not None and stage not in _STAGES:
        those = command("quarantine", "list", lake.url)
        raise NoSuchStage(f"no stage {stage!r}; `{those}` shows those that left rows out")
    known = {batch.name for batch in committed(lake)}
    for info in lake.storage.list(QUARANTINE if stage is None else f"{QUARANTINE}/{stage}", ".parquet"):
        match = _PATH.fullmatch(info.path)
        if match and match["batch"] in known:
            yield _File(info.path, match["stage"], match["choice"] or "", int(match["bucket"]), match["batch"])


def _shown(choice: Choice | None) -> str:
    return "" if choice is None else "=".join(choice)

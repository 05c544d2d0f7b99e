"""What one run read and wrote, so that an evaluation reads that and no mixture."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cluster import tables
from cluster.errors import LakeError, NoSnapshot, SnapshotStale
from cluster.hints import command
from cluster.lake import Lake
from cluster.report import Failure

_TEXT = pa.large_string()
_TIME = pa.timestamp("us", tz="UTC")

FILES = pa.schema(
    [
        pa.field("path", _TEXT, nullable=False),
        pa.field("stage", _TEXT, nullable=False),
        pa.field("table", _TEXT, nullable=False),
        pa.field("bucket", pa.int32(), nullable=False),
        pa.field("batch", _TEXT, nullable=False),
        pa.field("role", _TEXT, nullable=False),
        pa.field("stamp", _TEXT, nullable=False),
        pa.field("digest", _TEXT, nullable=False),
        pa.field("rows", pa.int64(), nullable=False),
        pa.field("quarantined", pa.int64(), nullable=False),
        pa.field("seconds", pa.float64(), nullable=False),
        pa.field("gpu_seconds", pa.float64(), nullable=False),
        pa.field("calls", pa.int64(), nullable=False),
        pa.field("prompt_tokens", pa.int64(), nullable=False),
        pa.field("cached_tokens", pa.int64(), nullable=False),
        pa.field("completion_tokens", pa.int64(), nullable=False),
        pa.field("model_seconds", pa.float64(), nullable=False),
    ]
)
"""One row a file. `role` is read, written or reused; `quarantined` counts lost rows. What follows is what a file that
was written took: `seconds` of a worker, those times its GPUs, and calls, tokens and seconds of a language model."""

NO_COST: dict[str, float] = dict.fromkeys(FILES.names[FILES.get_field_index("seconds") :], 0)
"""The last columns of a file that was not written."""

FAILURES = pa.schema(
    [
        pa.field("stage", _TEXT, nullable=False),
        pa.field("batch", _TEXT, nullable=False),
        pa.field("bucket", pa.int32(), nullable=False),
        pa.field("reason", _TEXT, nullable=False),
        pa.field("detail", _TEXT, nullable=False),
    ]
)
"""One row a shard that failed; `detail` is the worker's traceback, empty where there is none."""

RUN = pa.schema(
    [
        pa.field("run_id", _TEXT, nullable=False),
        pa.field("profile", _TEXT, nullable=False),
        pa.field("started", _TIME, nullable=False),
        pa.field("ended", _TIME, nullable=False),
        pa.field("exit_code", pa.int32(), nullable=False),
        *[pa.field(name, _TEXT, nullable=False) for name in ("config", "identities", "counts", "cost")],
    ]
)
"""One row: the run. The last four columns are JSON."""


@dataclass(frozen=True)
class Run:
    """One run: when, with what configuration and models, what it counted and cost."""

    run_id: str
    profile: str
    started: datetime
    ended: datetime
    exit_code: int
    config: Mapping[str, Any]
    identities: Mapping[str, Any]
    counts: Mapping[str, Any]
    cost: Mapping[str, Any]


@dataclass(frozen=True)
class Snapshot(Run):
    """A run and its files (FILES)."""

    files: pa.Table


def new_run_id(started: datetime) -> str:
    """A name that sorts by time and is not given twice."""
    return f"{started.astimezone(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}"


def write(lake: Lake, taken: Snapshot, failures: Sequence[Failure] = ()) -> str:
    """Writes a snapshot and returns its run_id. The run's own row comes last: with it the snapshot is whole.

    What failed has a file of its own, where anything did.
    """
    write_files(lake, taken.run_id, taken.files)
    if failures:
        failed = pa.Table.from_pylist([asdict(failure) for failure in failures], FAILURES)
        tables.publish(lake.storage, _path(taken.run_id, "failures"), failed, FAILURES, taken.run_id)
    row = {name: getattr(taken, name) for name in RUN.names}
    row |= {name: json.dumps(row[name], sort_keys=True) for name in ("config", "identities", "counts", "cost")}
    whole = pa.Table.from_pylist([row], RUN)
    tables.publish(lake.storage, _path(taken.run_id, "run"), whole, RUN, taken.run_id)
    return taken.run_id


def write_files(lake: Lake, run_id: str, files: pa.Table) -> None:
    """Writes what was read and written (FILES). Alone it is no snapshot, but says what was done and what it took."""
    tables.publish(lake.storage, _path(run_id, "files"), files, FILES, run_id)


def run_ids(lake: Lake) -> list[str]:
    """The runs that have a whole snapshot, the newest first."""
    return _ids(lake, "run")


def worked_ids(lake: Lake) -> list[str]:
    """Whatever has left the list of its files, the newest first: runs, and trainings."""
    return _ids(lake, "files")


def files_of_run(lake: Lake, run_id: str) -> pa.Table:
    """What one run read and wrote: FILES."""
    return tables.read(lake.storage, [_path(run_id, "files")], FILES)


def failures_of_run(lake: Lake, run_id: str) -> list[Failure]:
    """The shards that failed in a run, in the order in which they did."""
    path = _path(run_id, "failures")
    if not lake.storage.exists(path):
        return []
    return [Failure(**row) for row in tables.read(lake.storage, [path], FAILURES).to_pylist()]


def latest(lake: Lake, profile: str) -> Snapshot:
    """The newest whole snapshot of a profile. Raises NoSnapshot, which names the profiles that have one."""
    others = set()
    for run in _runs(lake):
        if run.profile == profile:
            return _load(lake, run)
        others.add(run.profile)
    there = f", or give --profile: there are runs of {', '.join(sorted(others))}" if others else ""
    to_run = command("run", lake.url, "--profile", profile)
    raise NoSnapshot(f"no run of profile {profile}: run `{to_run}` first{there}")


def latest_run(lake: Lake, profile: str) -> Run | None:
    """The newest run of a profile, without its files; None where there is none."""
    return next((run for run in _runs(lake) if run.profile == profile), None)


def load(lake: Lake, run_id: str) -> Snapshot:
    """The snapshot of one run. Raises NoSnapshot."""
    try:
        return _load(lake, _run(lake, run_id))
    except FileNotFoundError as error:
        raise NoSnapshot(f"no finished run {run_id} in {lake.url}") from error


def paths_of(taken: Snapshot, table: str, stage: str | None = None) -> list[str]:
    """The files of one table (and one stage) that a run read or wrote, each once, by path."""
    chosen = pc.equal(taken.files["table"], table)
    if stage is not None:
        chosen = pc.and_(chosen, pc.equal(taken.files["stage"], stage))
    return sorted(set(taken.files.filter(chosen)["path"].to_pylist()))


def verify(lake: Lake, taken: Snapshot, only: Collection[str] | None = None) -> None:
    """Raises SnapshotStale unless every listed file (of the tables in `only`) still carries its stamp and digest."""
    changed = set()
    for row in taken.files.to_pylist():
        if only is not None and row["table"] not in only:
            continue
        try:
            mark = tables.read_mark(lake.storage, row["path"])
        except LakeError:
            mark = None
        if mark is None or (mark.stamp, mark.digest) != (row["stamp"], row["digest"]):
            changed.add(row["path"])
    if changed:
        to_run = command("run", lake.url, "--profile", taken.profile)
        raise SnapshotStale(
            f"{len(changed)} file(s) changed since run {taken.run_id}: {', '.join(sorted(changed)[:3])}"
            f"{' ...' if len(changed) > 3 else ''}. Run `{to_run}` again."
        )


def _ids(lake: Lake, name: str) -> list[str]:
    """The folders of runs that hold a file of that name, the newest first."""
    return sorted((info.path.split("/")[1] for info in lake.storage.list("runs", f"/{name}.parquet")), reverse=True)


def _path(run_id: str, name: str) -> str:
    return f"runs/{run_id}/{name}.parquet"


def _runs(lake: Lake) -> Iterator[Run]:
    """The runs of a lake, the newest first, each read when it is come to."""
    return (_run(lake, run_id) for run_id in run_ids(lake))


def _run(lake: Lake, run_id: str) -> Run:
    row = tables.read(lake.storage, [_path(run_id, "run")], RUN).to_pylist()[0]
    return Run(**{**row, **{name: json.loads(row[name]) for name in ("config", "identities", "counts", "cost")}})


def _load(lake: Lake, run: Run) -> Snapshot:
    return Snapshot(**vars(run), files=files_of_run(lake, run.run_id))

"""What a run did: counts for each stage, its files, and what failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa

from cluster.exits import DONE, FAILED_SHARDS, NEEDS_BACKFILL, OVER_QUARANTINE, QUARANTINE_LIMIT


@dataclass
class StageReport:
    """Counts of a stage's shards; `rows` of the primary and the weight `quarantined` are of shards that are done.

    `done` were written by this run, `reused` were there already; of those that need a back-fill, `stale` are there, out
    of date, and the rest under another choice only. `seconds` are those of workers. `unit` is what else is counted
    where it is not shards.
    """

    name: str
    total: int = 0
    done: int = 0
    reused: int = 0
    failed: int = 0
    blocked: int = 0
    needs_backfill: int = 0
    stale: int = 0
    rows: int = 0
    quarantined: int = 0
    seconds: float = 0.0
    gpu_seconds: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    model_seconds: float = 0.0
    unit: str = "shards"

    @property
    def open(self) -> int:
        """Shards still to be settled."""
        return self.total - self.done - self.reused - self.failed - self.blocked - self.needs_backfill


@dataclass(frozen=True)
class Failure:
    """A shard that could not be computed, and why; `detail` is the worker's traceback where there is one."""

    stage: str
    batch: str
    bucket: int
    reason: str
    detail: str = ""

    @property
    def place(self) -> str:
        """Which shard it is, for people."""
        return f"{self.stage}, batch {self.batch}, bucket {self.bucket}"

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON; without the traceback."""
        return {"stage": self.stage, "batch": self.batch, "bucket": self.bucket, "reason": self.reason}


@dataclass(frozen=True)
class RunReport:
    """The outcome of a run. `files` has the schema cluster.snapshot.FILES."""

    stages: tuple[StageReport, ...]
    files: pa.Table
    failures: Sequence[Failure]
    quarantine_limit: float = QUARANTINE_LIMIT
    seconds: float = 0.0
    used_ray: bool = False

    @property
    def over_quarantine(self) -> list[str]:
        """Stages that left out more than the limit allows, as a share of the rows that they worked on."""
        return [stage.name for stage in self.stages if stage.quarantined > self.quarantine_limit * stage.rows]

    @property
    def exit_code(self) -> int:
        """The first that holds: 1 failed shards, 2 shards need `--backfill`, 3 quarantine over the limit; else 0."""
        if self.failures:
            return FAILED_SHARDS
        if any(stage.needs_backfill for stage in self.stages):
            return NEEDS_BACKFILL
        return OVER_QUARANTINE if self.over_quarantine else DONE

    @property
    def worker_seconds(self) -> float:
        """Seconds that workers spent in shards."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def gpu_seconds(self) -> float:
        """Seconds that GPUs were held by shards."""
        return sum(stage.gpu_seconds for stage in self.stages)

    def counts(self) -> dict[str, dict[str, Any]]:
        """The counts of each stage by its name, as plain literals."""
        names = [item.name for item in fields(StageReport) if item.name not in ("name", "unit")]
        return {stage.name: {name: getattr(stage, name) for name in names} for stage in self.stages}

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON; without the files, which a snapshot lists."""
        return {
            "exit_code": self.exit_code,
            "stages": [{"stage": name, **counts} for name, counts in self.counts().items()],
            "failures": [failure.as_dict() for failure in self.failures],
            "over_quarantine": self.over_quarantine,
            "seconds": self.seconds,
            "worker_seconds": self.worker_seconds,
            "gpu_seconds": self.gpu_seconds,
        }

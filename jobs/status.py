"""`slatemill status`: where a lake stands for a profile, what its last run did, what is under way. Writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from cluster import snapshot
from cluster.batches import Claim, committed, uncommitted
from cluster.cache import MarkCache
from cluster.forecast import Outlook, Prospect, forecast
from cluster.heartbeat import Beat, beats
from cluster.lake import Lake
from cluster.plan import Plan
from cluster.report import Failure
from cluster.snapshot import Run
from cluster.stamp import flat
from jobs.config import Profile
from jobs.graph import stages
from jobs.ingest import INGEST
from jobs.quarantine import kept_aside
from jobs.rankings import require_rankings
from jobs.teacher_stages import teacher_of_run
from models.ranker import LightGBMRanker

FIRST_FAILURES = 5
"""Failed shards that are named; often all have one reason, and the lake keeps the others."""


@dataclass
class StageStatus:
    """One stage: `shards` = done + stale + missing + waiting. `waiting` have a file that is stale only if what they
    read turns out changed; `failed` are of the last run; `quarantined` counts the rows that done shards left out."""

    stage: str
    shards: int = 0
    done: int = 0
    stale: int = 0
    missing: int = 0
    waiting: int = 0
    failed: int = 0
    quarantined: int = 0


@dataclass(frozen=True)
class Status:
    """A lake as it is `now`: counts of what arrived, its stages, the profile's last run with what failed in it, other
    runs under way or dead, claims of ingests with their times, rows that ingest lost, and what else is to be said."""

    lake: str
    profile: str
    now: datetime
    batches: int
    arrived: Mapping[str, int]
    stages: tuple[StageStatus, ...]
    last_run: Run | None
    failures: Sequence[Failure]
    live: Sequence[Beat]
    claims: Sequence[tuple[Claim, datetime]]
    lost_by_ingest: int
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON; times in ISO 8601, UTC."""
        return {
            "lake": self.lake,
            "profile": self.profile,
            "now": self.now.isoformat(),
            "batches": self.batches,
            "arrived": dict(self.arrived),
            "stages": [asdict(stage) for stage in self.stages],
            "lost_by_ingest": self.lost_by_ingest,
            "last_run": None if self.last_run is None else _run_dict(self.last_run, self.failures),
            "live": [
                {
                    "run_id": beat.run_id,
                    "profile": beat.profile,
                    "dead": beat.is_dead(self.now),
                    "started": beat.started.isoformat(),
                    "at": beat.at.isoformat(),
                    "stages": list(beat.stages),
                }
                for beat in self.live
            ],
            "uncommitted": [
                {"batch": claim.name, "digest": claim.digest, "claimed": since.isoformat()}
                for claim, since in self.claims
            ],
            "notes": list(self.notes),
        }


def status(lake: Lake, profile: Profile, ranker: LightGBMRanker | None) -> Status:
    """Looks at the footers of a profile's files, the last snapshot, and the beats of runs. Starts no Ray.

    Raises LakeError where the lake lacks a file of a committed batch, and what `jobs.run.run` does.
    """
    require_rankings(lake, profile)
    now = datetime.now(UTC)
    batches = committed(lake)
    made = Plan(lake, stages(profile, lake.tokenizer, ranker, teacher_of_run(profile)), batches, cache=MarkCache())
    last = snapshot.latest_run(lake, profile.name)
    counts: Counter[str] = Counter()
    for batch in batches:
        counts.update(batch.counts)
    return Status(
        lake=lake.url,
        profile=profile.name,
        now=now,
        batches=len(batches),
        arrived={name: counts[name] for name in ("turns", "requests")},
        stages=_stages(made, {} if last is None else last.counts),
        last_run=last,
        failures=[] if last is None else snapshot.failures_of_run(lake, last.run_id),
        live=[beat for beat in beats(lake.storage) if not _is_over(lake, beat, last, now)],
        claims=uncommitted(lake),
        lost_by_ingest=sum(group.lost for group in kept_aside(lake, stage=INGEST)),
        notes=tuple(_notes(profile, ranker, last)),
    )


def _stages(made: Plan, last: Mapping[str, Any]) -> tuple[StageStatus, ...]:
    names = [stage.name for stage in made.graph.stages]
    found = [StageStatus(name, failed=last.get(name, {}).get("failed", 0)) for name in names]
    for shard, prospect in forecast(made).items():
        stage = found[shard.stage]
        stage.shards += 1
        column = _column(prospect)
        setattr(stage, column, getattr(stage, column) + 1)
        if column == "done":
            stage.quarantined += made.note(shard).weight
    return tuple(found)


def _column(prospect: Prospect) -> str:
    if prospect.outlook is Outlook.REUSE:
        return "done"
    if not prospect.is_there:
        return "missing"
    return "waiting" if prospect.outlook is Outlook.FOLLOW else "stale"


def _is_over(lake: Lake, beat: Beat, last: Run | None, now: datetime) -> bool:
    """Whether a beat tells nothing any more: of a dead run, when a later one of its profile has ended."""
    if not beat.is_dead(now):
        return False
    later = last if last is not None and last.profile == beat.profile else snapshot.latest_run(lake, beat.profile)
    return later is not None and later.run_id >= beat.run_id


def _notes(profile: Profile, ranker: LightGBMRanker | None, last: Run | None) -> list[str]:
    if last is None:
        return []
    notes = []
    then, now = dict(flat(last.config)), dict(flat(profile.model_dump(mode="json")))
    keys = sorted(key for key in {*then, *now} if then.get(key) != now.get(key))
    if keys:
        notes.append(f"the last run had other options than the profile has now: {', '.join(keys)}")
    ranked = (last.identities.get("ranker") or {}).get("identity")
    if ranked != (None if ranker is None else ranker.identity):
        notes.append("the last run had another ranker than a run would have now")
    return notes


def _run_dict(run: Run, failures: Sequence[Failure]) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "started": run.started.isoformat(),
        "ended": run.ended.isoformat(),
        "seconds": (run.ended - run.started).total_seconds(),
        "exit_code": run.exit_code,
        "worker_seconds": run.cost.get("worker_seconds"),
        "failed": len(failures),
        "failures": [failure.as_dict() for failure in failures[:FIRST_FAILURES]],
    }

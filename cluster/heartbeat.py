"""How far a run under way is, for who looks at the lake from elsewhere: a small file, written again and again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from cluster.progress import Pace
from cluster.report import StageReport
from cluster.storage import Storage

EVERY_S = 5.0
DEAD_AFTER_S = 60.0

_FOLDER = "runs/live"


@dataclass(frozen=True)
class Beat:
    """What a run said last, `at` a time (UTC, by the clock of the machine that drives it): its stages as literals of
    StageReport, each with `rate` (shards a second) and `left` (seconds), null while unknown."""

    run_id: str
    profile: str
    started: datetime
    at: datetime
    stages: Sequence[dict[str, Any]]

    def is_dead(self, now: datetime) -> bool:
        """Whether the run has said nothing for so long that it is no longer there."""
        return (now - self.at).total_seconds() > DEAD_AFTER_S


class Heartbeat:
    """A Progress that keeps the file of one run, and removes it at the end. What cannot be written is let go."""

    def __init__(
        self,
        storage: Storage,
        run_id: str,
        profile: str,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._storage = storage
        self._run_id = run_id
        self._profile = profile
        self._clock = clock
        self._now = now
        self._started = now()
        self._stages: Sequence[StageReport] = ()
        self._paces: dict[str, Pace] = {}
        self._every_s = EVERY_S
        self._next = 0.0

    def start(self, stages: Sequence[StageReport]) -> None:
        """The first beat; also removes what earlier runs of the profile left when they died."""
        self._stages = stages
        self._paces = {stage.name: Pace(self._clock) for stage in stages}
        with suppress(Exception):
            now = self._now()
            for beat in beats(self._storage):
                if beat.profile == self._profile and beat.is_dead(now):
                    self._storage.delete(_path(beat.run_id))
        self._beat()

    def update(self, stage: StageReport) -> None:
        """Takes in that a shard was settled."""
        self._paces[stage.name].begin(stage)

    def tick(self) -> None:
        """A beat when it is time for one."""
        if self._clock() >= self._next:
            self._beat()

    def stop(self) -> None:
        """Removes the file."""
        with suppress(Exception):
            self._storage.delete(_path(self._run_id))

    def _beat(self) -> None:
        said = {
            "profile": self._profile,
            "started": self._started.isoformat(),
            "at": self._now().isoformat(),
            "stages": [self._said(stage) for stage in self._stages],
        }
        try:
            self._storage.replace(_path(self._run_id), json.dumps(said).encode())
            self._every_s = EVERY_S
        except Exception:  # whatever a store raises: a run does not end for want of a display, nor wait for it often
            self._every_s *= 2
        self._next = self._clock() + self._every_s

    def _said(self, stage: StageReport) -> dict[str, Any]:
        pace = self._paces[stage.name]
        return {**asdict(stage), "rate": pace.rate(stage), "left": pace.left(stage)}


def beats(storage: Storage) -> list[Beat]:
    """The last beat of every run that is under way or has died, by run_id."""
    found = []
    for info in storage.list(_FOLDER, ".json"):
        # One that ends just now takes its file with it; what is no beat is not ours.
        with suppress(FileNotFoundError, ValueError, KeyError):
            said = json.loads(storage.read_bytes(info.path))
            run_id = info.path.rsplit("/", 1)[-1].removesuffix(".json")
            times = {name: datetime.fromisoformat(said[name]) for name in ("started", "at")}
            found.append(Beat(run_id, said["profile"], stages=said["stages"], **times))
    return found


def _path(run_id: str) -> str:
    return f"{_FOLDER}/{run_id}.json"

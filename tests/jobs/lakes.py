"""Lakes of generated histories, made and run by the command itself, each command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import polars as pl

DRIVER = Path(__file__).with_name("driver.py")

_TURN = ["history_id", "session_index", "turn_index"]
_REQUEST = ["history_id", "request_id"]
KEYS = {
    "terms": _TURN,
    "turn_vectors": [*_TURN, "window"],
    "request_vectors": _REQUEST,
    "pools": [*_REQUEST, "pool_position"],
    "features": [*_REQUEST, "pool_position"],
    "slates": [*_REQUEST, "policy", "budget"],
    "oracle_slates": [*_REQUEST, "policy", "budget"],
}
"""The key of every table that a run writes, in the order of the stages."""


@dataclass(frozen=True)
class Started:
    """A command under way, and the folder in which it leaves what it says and its peak."""

    process: subprocess.Popen[bytes]
    traces: Path


@dataclass(frozen=True)
class Ended:
    """A command that ended well: what it said, how long it took, and the peak of its own memory in MB (10^6)."""

    said: str
    seconds: float
    peak_mb: float


@dataclass(frozen=True)
class Shell:
    """Runs `slatemill` in processes of their own; MLflow's store and the caches lie in `folder`."""

    folder: Path

    def start(self, *arguments: object) -> Started:
        """Starts a command in a session of its own; what it says goes to a file, since Ray's processes outlive it."""
        traces = Path(tempfile.mkdtemp(prefix="command-", dir=self.folder))
        environment = {
            **os.environ,
            "MLFLOW_TRACKING_URI": f"sqlite:///{self.folder}/mlflow.db",
            "XDG_CACHE_HOME": str(self.folder / "cache"),
        }
        command = [sys.executable, str(DRIVER), str(traces / "peak"), *map(str, arguments)]
        with (traces / "said").open("wb") as said:
            process = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=said, stderr=said, start_new_session=True
            )
        return Started(process, traces)

    def run(self, *arguments: object) -> Ended:
        """Runs a command to its end, which must be a good one."""
        began = time.monotonic()
        started = self.start(*arguments)
        try:
            code = started.process.wait()
        finally:
            started.process.kill()  # a test that is interrupted leaves none behind
        seconds = time.monotonic() - began
        said = (started.traces / "said").read_text()
        assert code == 0, f"slatemill {' '.join(map(str, arguments))}: exit code {code}\n{said}"
        return Ended(said, seconds, int((started.traces / "peak").read_text()) * 1024 / 1e6)

    def stored(self, name: str, histories: int, sessions: int, seed: int) -> tuple[Path, Ended]:
        """A new lake with generated histories in it, and how their ingest went."""
        lake, source = self.folder / name, self.folder / f"{name}.json"
        self.run("init", lake)
        self.run("synth", source, "--histories", histories, "--sessions", sessions, "--seed", seed)
        return lake, self.run("ingest", lake, source, "--format", "longmemeval")


def files_of(lake: Path) -> dict[str, list[Path]]:
    """What a reader's glob finds of each table that a run writes."""
    return {table: sorted(lake.glob(f"{table}/*/bucket=*/*.parquet")) for table in KEYS}


def rows_of(lake: Path) -> dict[str, pl.DataFrame]:
    """Every table that a run has written, sorted by its key."""
    return {table: rows(files, table) for table, files in files_of(lake).items() if files}


def rows(files: list[Path], table: str) -> pl.DataFrame:
    """The rows of some files of a table, sorted by its key."""
    return pl.read_parquet(files, hive_partitioning=False).sort(KEYS[table])

"""kill -9 of the driver at random moments, then `run` again: the tables are those of an undisturbed run, row for row.

Real Ray, real files, the command in processes of its own.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from lakes import Shell, files_of, rows, rows_of

from cluster import snapshot
from cluster.lake import Lake

pytestmark = pytest.mark.cluster

RAY_IS_GONE_S = 120.0
AGENTS = frozenset({"ray::DashboardA", "ray::RuntimeEnv"})
"""Ray's helpers beside its workers, as the kernel cuts their names: they run no shard."""


@dataclass(frozen=True)
class Undisturbed:
    """A run that nothing happened to: its files, its rows, how long it took, and when it wrote."""

    lake: Path
    files: dict[str, list[str]]
    rows: dict[str, pl.DataFrame]
    seconds: float
    first_s: dict[str, float]
    last_s: float


@dataclass(frozen=True)
class Moment:
    """So many seconds after the first file of a table was there, or after the start.

    Counted from a file, it finds its stage also where the machine is busier than it was for the undisturbed run.
    """

    seconds: float
    after: str | None = None


@dataclass(frozen=True)
class Kill:
    """One kill: when it fell, whether it met a run in progress and its Ray, and the files that were there."""

    moment: Moment
    alive: bool
    ray_seen: bool
    there: dict[str, int]
    whole: dict[str, int]

    @property
    def stage(self) -> str:
        """The first stage with files still to come."""
        if not any(self.there.values()):
            return "(no file yet)"
        return next((table for table, count in self.there.items() if count < self.whole[table]), "(every file there)")

    @property
    def met_work_half_done(self) -> bool:
        """Whether some files were there, but not all."""
        return self.alive and 0 < sum(self.there.values()) < sum(self.whole.values())

    def __str__(self) -> str:
        counts = ", ".join(f"{table} {count}/{self.whole[table]}" for table, count in self.there.items())
        when = f"{self.moment.seconds:6.2f} s after {self.moment.after or 'start':5}"
        return f"  {when}  {self.stage if self.alive else '(had ended)':18} {counts}"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_tables_after_three_kills_equal_those_of_an_undisturbed_run(shell):
    base, _ = shell.stored("base", histories=100, sessions=12, seed=7)
    options = ("--profile", "lexical")
    undisturbed = ran(shell, base, *options)
    moments = spread(3, undisturbed, seed=11, after="terms")
    with processes_gone(but=AGENTS) as drivers:  # a minute less; the ten kills wait for them too
        kills = [killed(shell, base, undisturbed, drivers, moment, *options) for moment in moments]
    report(undisturbed, kills)
    assert any(kill.met_work_half_done for kill in kills)


@pytest.mark.scale
@pytest.mark.timeout(3600)
def test_tables_after_ten_kills_of_the_recipe_equal_those_of_an_undisturbed_run(shell):
    base, _ = shell.stored("base", histories=8, sessions=4, seed=7)
    learned, ranker = shell.folder / "learned", shell.folder / "ranker"
    shutil.copytree(base, learned)
    shell.run("train", learned, "--out", ranker)
    options = ("--profile", "agentmemrec", "--ranker", str(ranker))
    undisturbed = ran(shell, base, *options)
    assert "lambdarank" in undisturbed.rows["slates"]["policy"].to_list()
    # Loading the model takes most of the time: the stages after it get their share.
    moments = [*spread(6, undisturbed, seed=13, before="pools"), *spread(4, undisturbed, seed=17, after="pools")]
    with processes_gone() as drivers:
        kills = [killed(shell, base, undisturbed, drivers, moment, *options) for moment in moments]
    report(undisturbed, kills)
    assert sum(kill.met_work_half_done for kill in kills) >= 4
    assert len({kill.stage for kill in kills if kill.met_work_half_done}) >= 3


def ran(shell: Shell, base: Path, *options: str) -> Undisturbed:
    """The run that all others are compared with."""
    lake = shell.folder / "undisturbed"
    shutil.copytree(base, lake)
    started = time.time()
    ended = shell.run("run", lake, *options)
    written = {
        table: [path.stat().st_mtime - started for path in files] for table, files in files_of(lake).items() if files
    }
    first = {table: min(times) for table, times in written.items()}
    return Undisturbed(lake, names_of(lake), rows_of(lake), ended.seconds, first, max(map(max, written.values())))


def names_of(lake: Path) -> dict[str, list[str]]:
    return {table: [str(path.relative_to(lake)) for path in files] for table, files in files_of(lake).items() if files}


def spread(
    kills: int, undisturbed: Undisturbed, seed: int, after: str | None = None, before: str | None = None
) -> list[Moment]:
    """One uniform moment in each of as many equal parts of the time, so that every part of it is met."""
    dice = random.Random(seed)
    begin = undisturbed.first_s[after] if after else 0.0
    end = undisturbed.first_s[before] if before else undisturbed.last_s
    return [Moment((end - begin) / kills * (place + dice.random()), after) for place in range(kills)]


def killed(
    shell: Shell, base: Path, undisturbed: Undisturbed, drivers: list[int], moment: Moment, *options: str
) -> Kill:
    """Kills a run at a moment, looks at what it left, runs again and compares."""
    lake = shell.folder / "disturbed"
    shutil.copytree(base, lake)
    driver = shell.start("run", lake, *options).process
    drivers.append(driver.pid)
    while moment.after and driver.poll() is None and not files_of(lake)[moment.after]:
        time.sleep(0.01)
    alive = not ends_within(driver, moment.seconds)
    ray_seen = "raylet" in of_session(driver.pid).values()
    driver.kill()
    driver.wait()
    there = compared(lake, undisturbed)
    shell.run("run", lake, *options)
    assert names_of(lake) == undisturbed.files
    for table, found in rows_of(lake).items():
        assert found.equals(undisturbed.rows[table]), table
    opened = Lake.open(str(lake))
    snapshot.verify(opened, snapshot.latest(opened, options[1]))
    shutil.rmtree(lake)
    return Kill(moment, alive, ray_seen, there, {table: len(names) for table, names in undisturbed.files.items()})


def compared(lake: Path, undisturbed: Undisturbed) -> dict[str, int]:
    """How many files a kill left of each table, each whole and with the rows that it has in the undisturbed lake."""
    there = {}
    for table, names in undisturbed.files.items():
        # Ray's workers live a little longer than their driver: a file may still come, but none may change.
        found = [str(path.relative_to(lake)) for path in files_of(lake)[table]]
        assert set(found) <= set(names), table
        for name in found:
            assert rows([lake / name], table).equals(rows([undisturbed.lake / name], table)), name
        there[table] = len(found)
    return there


def ends_within(driver: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        driver.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


@contextmanager
def processes_gone(but: frozenset[str] = frozenset()) -> Iterator[list[int]]:
    """Takes the pids of killed drivers. What they started, Ray's processes, must end by themselves; none ever stays.

    Its workers go at once; its agents try for a minute to tell a GCS that is gone.
    """
    drivers: list[int] = []

    def left() -> dict[int, str]:
        found = {pid: name for driver in drivers for pid, name in of_session(driver).items()}
        return {pid: name for pid, name in found.items() if name not in but}

    try:
        yield drivers
        deadline = time.monotonic() + RAY_IS_GONE_S
        while left() and time.monotonic() < deadline:
            time.sleep(0.5)
        assert not left(), f"still there {RAY_IS_GONE_S:g} s after the last run, though their drivers are dead"
    finally:
        for pid in (pid for driver in drivers for pid in of_session(driver)):
            os.kill(pid, signal.SIGKILL)


def of_session(leader: int) -> dict[int, str]:
    """The processes of the session that a driver led, by pid: no other Ray on the machine is in it."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:  # it has ended meanwhile
            continue
        state, _, _, session = rest.split()[:4]
        if int(session) == leader and state != "Z":
            found[int(folder.name)] = name
    return found


def report(undisturbed: Undisturbed, kills: list[Kill]) -> None:
    """Prints where the kills fell; those in the middle of the work must have found Ray's processes to be gone."""
    firsts = ", ".join(f"{table} {first:.1f} s" for table, first in undisturbed.first_s.items())
    print(f"\nundisturbed: {undisturbed.seconds:.1f} s; first files: {firsts}; last file: {undisturbed.last_s:.1f} s")
    print("\n".join(map(str, kills)))
    assert all(kill.ray_seen for kill in kills if kill.met_work_half_done), "Ray's processes are not where we look"

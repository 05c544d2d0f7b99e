"""What a worker holds while a source of a gigabyte is stored. Prints its numbers."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from lakes import Shell

pytestmark = [pytest.mark.scale, pytest.mark.cluster]

GIGABYTE = 1_000_000_000
HISTORIES, SESSIONS = 10_400, 20
LIMIT_MB = 400
EVERY_S = 0.2


@pytest.mark.timeout(3600)
def test_a_gigabyte_is_ingested_within_400_mb_of_resident_memory_per_worker(shell: Shell) -> None:
    lake, source = shell.folder / "gigabyte", shell.folder / "gigabyte.json"
    shell.run("init", lake)
    shell.run("synth", source, "--histories", HISTORIES, "--sessions", SESSIONS, "--seed", 3)
    assert source.stat().st_size > GIGABYTE
    began = time.monotonic()
    started = shell.start("ingest", lake, source)
    peaks: dict[int, float] = {}
    while started.process.poll() is None:
        peaks |= peaks_of_workers(started.process.pid)
        time.sleep(EVERY_S)
    said = (started.traces / "said").read_text()
    assert started.process.returncode == 0, said
    driver = int((started.traces / "peak").read_text()) * 1024 / 1e6
    workers = ", ".join(f"{peak:.0f}" for peak in sorted(peaks.values()))
    print(f"\n{source.stat().st_size / 1e6:,.0f} MB in {time.monotonic() - began:.0f} s")
    print(f"  peaks in MB: driver {driver:.0f}, workers and agents {workers}")
    assert len(peaks) >= 2
    assert max(*peaks.values(), driver) <= LIMIT_MB


def peaks_of_workers(driver: int) -> dict[int, float]:
    """The peak of each Ray worker below a process, by its id, in MB (10^6), as the kernel keeps it."""
    parents, names, peaks = {}, {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            told = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
            names[int(folder.name)] = (folder / "cmdline").read_bytes()
        except OSError:  # it has ended meanwhile
            continue
        parents[int(folder.name)] = int(told["PPid"])
        peaks[int(folder.name)] = int(told.get("VmHWM", "0 kB").split()[0]) * 1024 / 1e6
    return {
        process: peaks[process]
        for process, name in names.items()
        if name.startswith(b"ray::") and driver in ancestors(process, parents)
    }


def ancestors(process: int, parents: dict[int, int]) -> set[int]:
    """A process's parent, its parent's, and so on."""
    found: set[int] = set()
    while (process := parents.get(process, 0)) and process not in found:
        found.add(process)
    return found

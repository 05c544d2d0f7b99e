"""Processes that start a piece of work at the same moment."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

_HEAD_START_S = 4.0
"""For all of them to import what they need."""


def raced(program: str, folder: Path, racers: int) -> list[str]:
    """What each of `racers` processes printed. A program is told the folder, which racer it is, and when to start."""
    start = str(time.time() + _HEAD_START_S)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(folder), str(racer), start], stdout=subprocess.PIPE, text=True
        )
        for racer in range(racers)
    ]
    told = [process.communicate(timeout=120)[0] for process in running]
    assert all(process.returncode == 0 for process in running)
    return told

"""Runs what a page tells a user to do, as a user does: in a shell, in a folder of one's own."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pages import ROOT

COMMAND = "import sys; sys.argv[0] = 'slatemill'; from jobs.cli import main; main()"


def run_blocks(commands: Sequence[str], folder: Path) -> list[str]:
    """What each block of commands wrote to standard output, run in order in `folder`/home."""
    program = folder / "bin" / "slatemill"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-c", COMMAND])} "$@"\n')
    program.chmod(0o755)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("MLFLOW")},
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "COLUMNS": "80",
    }
    found = []
    for block in commands:
        done = subprocess.run(
            ["bash", "-e"], input=block, cwd=home, env=environment, capture_output=True, text=True, check=False
        )  # fmt: skip
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        found.append(done.stdout)
    return found


def in_order(shown: str, output: str) -> bool:
    """Whether the lines of a page's example stand in an output, in order; `...` stands for any lines."""
    lines = iter(line.rstrip() for line in output.splitlines())
    return all(line.rstrip() in lines for line in shown.splitlines() if line.strip() not in ("", "..."))

"""docs/first-slate.md as a new user does it: its commands one after the other, in a shell and an empty folder."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pages import FIRST_SLATE, ROOT, blocks

COMMAND = "import sys; sys.argv[0] = 'slatemill'; from jobs.cli import main; main()"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each `sh` block of the page wrote to standard output, the blocks run in order by a shell."""
    folder = tmp_path_factory.mktemp("walk")
    program = folder / "bin" / "slatemill"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-c", COMMAND])} "$@"\n')
    program.chmod(0o755)
    home = folder / "home"
    home.mkdir()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("MLFLOW")},
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "COLUMNS": "80",
    }
    found = []
    for block in blocks(FIRST_SLATE, "sh"):
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


@pytest.mark.cluster
def test_each_example_of_output_is_what_a_command_before_it_prints(said) -> None:
    page = FIRST_SLATE.read_text(encoding="utf-8")
    commands = blocks(FIRST_SLATE, "sh")
    examples = blocks(FIRST_SLATE, "text")
    assert len(examples) > 2
    for example in examples:
        before = [at for at, block in enumerate(commands) if page.index(block) < page.index(example)]
        assert in_order(example, said[before[-1]]), f"{example}\n{said[before[-1]]}"


@pytest.mark.flash
def test_an_example_that_is_not_printed_is_noticed() -> None:
    assert in_order("a\n...\nc", "a\nb\nc")
    assert not in_order("c\na", "a\nb\nc")

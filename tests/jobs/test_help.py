"""What the command says of itself: examples that run, completion by Tab, and no colour where none is wanted."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.main import get_command

from jobs import cli
from jobs.names import profile_names
from pipeline.ingest.formats import FORMATS
from pipeline.schemas import LABELS

MAIN = "import sys; sys.argv[0] = 'slatemill'; from jobs.cli import main; main()"
MAKE_A_LAKE = ["synth", "init", "ingest", "run", "evaluate"]
NEED_A_MODEL = {"demo", "finetune", "answer", "judge"}
HEAVY = ["ray", "polars", "pyarrow", "mlflow", "torch", "lightgbm"]


def commands(group: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by its words, groups opened."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


COMMANDS = dict(commands(get_command(cli.app)))


def called(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["slatemill", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code or 0


def example(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The words of the example in a command's help, on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    assert called(monkeypatch, *name.split(), "--help") == 0
    found = re.findall(r"Example: (.*?)\s*$", capsys.readouterr().out, re.MULTILINE)
    assert [f"Example: {line}" for line in found] == [COMMANDS[name].epilog]
    program, *words = shlex.split(found[0])
    assert program == "slatemill"
    return words


def alone(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    program = [sys.executable, "-c", MAIN, *words]
    return subprocess.run(program, env={**inherited, **environment}, capture_output=True, text=True, check=False)


def completed(line: str, **environment: str) -> list[str]:
    """What Tab offers at the end of a line, in bash."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    done = alone(_SLATEMILL_COMPLETE="complete_bash", **words, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.flash
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_s_help_shows_an_example_that_can_be_parsed(name, monkeypatch, capsys) -> None:
    words = example(name, monkeypatch, capsys)
    assert words[: len(name.split())] == name.split()
    COMMANDS[name].make_context(name, words[len(name.split()) :])


@pytest.mark.cluster
def test_the_examples_run_one_after_the_other(tmp_path, monkeypatch, capsys) -> None:
    examples = {name: example(name, monkeypatch, capsys) for name in COMMANDS}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # What another system ranked: no command writes it.
    pq.write_table(pa.table({"request_id": [], "source_turn": [], "score": pa.array([], pa.float64())}), "mem0.parquet")
    rest = [name for name in COMMANDS if name not in MAKE_A_LAKE and name not in NEED_A_MODEL]
    for name in [*MAKE_A_LAKE, *rest]:
        if name == "distill":
            rate(Path("lake"), Path("scores.parquet"))
        code = called(monkeypatch, *examples[name])
        said = capsys.readouterr()
        assert code == 0, (name, said.out, said.err)
        assert max(map(len, said.out.splitlines()), default=0) <= 80, name


def rate(lake: Path, file: Path) -> None:
    """Writes what a teacher could have rated: no model is asked here."""
    pools = pl.read_parquet(lake / "pools" / "profile=lexical" / "*" / "*.parquet", hive_partitioning=False)
    rated = {"status": pl.lit("ok"), "reason": pl.lit(""), "from_logprobs": pl.lit(value=False)}
    score = 10.0 / pl.col("pool_position")
    pools.select(*LABELS.names, score=score, **rated).write_parquet(file)


@pytest.mark.flash
def test_help_and_completion_wait_for_no_heavy_import() -> None:
    watched = f"import atexit, sys; atexit.register(lambda: print([n for n in {HEAVY} if n in sys.modules])); {MAIN}"
    for words, environment in ((["--help"], {}), ([], {"_SLATEMILL_COMPLETE": "complete_bash", "COMP_CWORD": "4"})):
        line = {"COMP_WORDS": "slatemill run lake --profile "}
        done = subprocess.run(
            [sys.executable, "-c", watched, *words], env={**os.environ, **line, **environment},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout.splitlines()[-1] == "[]"


def test_tab_completes_commands_profiles_and_formats() -> None:
    assert completed("slatemill mod") == ["models"]
    assert completed("slatemill models ") == ["list", "fetch", "card"]
    assert completed("slatemill run lake --profile le") == ["lexical"]
    assert set(profile_names()) <= set(completed("slatemill run lake --profile "))
    assert completed("slatemill ingest lake x --format ") == ["auto", *FORMATS]
    assert completed("slatemill ingest lake x -f longm") == ["longmemeval"]


def test_tab_completes_profile_files_too(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("mine.yaml", "mine.txt", "sub/own.yml", "[odd].yaml"):
        (tmp_path / name).touch()
    assert completed(f"slatemill run lake -p {tmp_path}/m") == [f"{tmp_path}/mine.yaml"]
    assert completed(f"slatemill run lake -p {tmp_path}/s") == [f"{tmp_path}/sub/"]
    assert completed(f"slatemill run lake -p {tmp_path}/sub/") == [f"{tmp_path}/sub/own.yml"]
    assert completed(f"slatemill run lake -p {tmp_path}/[") == [f"{tmp_path}/[odd].yaml"]


@pytest.mark.flash
def test_completion_installs_itself(tmp_path: Path) -> None:
    done = alone(
        "--install-completion", "bash", HOME=str(tmp_path), _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    scripts = [path.read_text() for path in tmp_path.rglob("*.sh")]
    assert [script.count("_SLATEMILL_COMPLETE=complete_bash") for script in scripts] == [1]


def test_no_color_is_respected() -> None:
    coloured = alone("run", "nowhere", FORCE_COLOR="1", TERM="xterm")
    plain = alone("run", "nowhere", FORCE_COLOR="1", TERM="xterm", NO_COLOR="1")
    assert "\x1b[31m" in coloured.stderr
    assert "\x1b[" not in plain.stderr
    assert (coloured.returncode, plain.returncode) == (2, 2)

"""`slatemill synth`: chats or runs of agents, and no option of the one for the other."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from jobs import cli
from jobs.synth import STEPS, parse_steps

pytestmark = pytest.mark.flash


def called(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["slatemill", "synth", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code or 0


def test_runs_of_agents_are_written_the_same_each_time(tmp_path: Path, monkeypatch, capsys) -> None:
    for name in ("one.json", "sub/two.json"):
        words = ("--agent", "--histories", 3, "--steps", "20-30", "--seed", 2)
        assert called(monkeypatch, tmp_path / name, *words) == 0
    assert "3 histories" in capsys.readouterr().out
    one = (tmp_path / "one.json").read_bytes()
    assert one == (tmp_path / "sub" / "two.json").read_bytes()
    counts = [sum(message["role"] == "assistant" for message in run["messages"]) for run in json.loads(one)]
    assert len(counts) == 3
    assert all(20 <= count <= 30 for count in counts)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--agent", "--sessions", 20), "--sessions cannot be chosen for runs of agents"),
        (("--agent", "--requests", 1), "--requests cannot be chosen for runs of agents"),
        (
            ("--agent", "--sessions", 3, "--requests", 2),
            "--sessions and --requests cannot be chosen for runs of agents",
        ),
        (("--steps", STEPS), "--steps cannot be chosen for chats, only for runs of agents, that is with --agent"),
        (("--agent", "--steps", "many"), "--steps takes the fewest and the most steps of a history, such as 60-250"),
        (("--agent", "--steps", "90-80"), "--steps begins at 10 or more and ends no lower"),
        (("--agent", "--steps", "9-80"), "--steps begins at 10 or more and ends no lower"),
        (("--agent", "--histories", 0), "--histories"),
    ],
)
def test_options_that_do_not_go_together_are_refused_and_nothing_is_written(
    tmp_path: Path, monkeypatch, capsys, words, said
) -> None:
    assert called(monkeypatch, tmp_path / "out.json", *words) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""
    assert not (tmp_path / "out.json").exists()


def test_a_number_of_steps_is_a_range_of_its_own() -> None:
    assert parse_steps("80") == (80, 80)
    assert parse_steps(" 60-250 ") == parse_steps(STEPS) == (60, 250)

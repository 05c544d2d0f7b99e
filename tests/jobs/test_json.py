"""`--json`: standard output is one JSON document and nothing else; messages and exit codes are as without it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inside import ITEMS, said_by_main
from typer.main import get_command

from cluster.batches import claim, committed
from cluster.exits import DONE, FAILED_SHARDS, OVER_QUARANTINE, USAGE
from cluster.lake import Lake
from cluster.snapshot import latest_run
from jobs import cli
from jobs import ingest as ingest_job
from models.ranker import LightGBMRanker

FOR_PEOPLE = {"init", "synth", "demo"}
LOSSY = [
    {"history_id": name, "sessions": [{"time": when, "turns": [{"role": "user", "text": "ada moved to Rome"}]}]}
    for name, when in (("ada", "2024-01-01"), ("bob", "of late"))
]

Say = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Say:
    """Calls a command beside `lake`: exit code, the JSON on standard output, standard error. File descriptors are
    watched, so that what libraries and other processes write is seen too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "good.json").write_text(json.dumps(ITEMS))
    (tmp_path / "note.json").write_text('"just a note"')
    (tmp_path / "lossy.jsonl").write_text("".join(json.dumps(item) + "\n" for item in LOSSY))
    Lake.init("lake")
    capfd.readouterr()

    def call(*words: str) -> tuple[int, Any, str]:
        code, out, err = said_by_main(monkeypatch, capfd, *words)
        return code, json.loads(out), err

    return call


def takes_json(command: Any) -> bool:
    return any("--json" in option.opts for option in command.params)


@pytest.mark.flash
def test_every_command_that_a_machine_may_read_takes_json() -> None:
    without = set()
    for name, command in get_command(cli.app).commands.items():
        inner = getattr(command, "commands", {"": command})
        without |= {f"{name} {word}".strip() for word, one in inner.items() if not takes_json(one)}
    assert without == FOR_PEOPLE


@pytest.mark.flash
def test_ingest_says_of_each_source_what_it_brought_and_what_it_lost(say) -> None:
    code, (good, lossy), _ = say("ingest", "lake", "good.json", "lossy.jsonl", "--json")
    batches = committed(Lake.open("lake"))
    assert code == OVER_QUARANTINE
    assert (good["source"], good["format"], good["batch"]) == ("good.json", "longmemeval", batches[0].name)
    assert (good["already"], good["lost"], good["lost_share"]) == (False, 0, 0.0)
    assert good["counts"] == batches[0].counts
    assert (lossy["batch"], lossy["lost"], lossy["lost_share"]) == (batches[1].name, 1, 0.5)
    code, (again,), _ = say("ingest", "lake", "lossy.jsonl", "--json")
    assert code == DONE
    assert again == {**lossy, "already": True, "lost": None, "lost_share": None, "unheard": None}


@pytest.mark.flash
def test_what_was_stored_is_told_where_a_later_source_is_refused(say) -> None:
    code, (good,), err = say("ingest", "lake", "good.json", "note.json", "--json")
    assert (code, good["source"]) == (USAGE, "good.json")
    assert "note.json" in err
    held = claim(Lake.open("lake"), "f" * 64)
    assert say("ingest", "lake", "--void", "--json")[:2] == (DONE, {"dropped": [held.name]})


@pytest.mark.cluster
def test_ingest_run_train_and_evaluate_write_nothing_but_json(say, monkeypatch) -> None:
    monkeypatch.setattr(ingest_job, "SIDE_BY_SIDE", 1)
    assert say("ingest", "lake", "good.json", "--json")[0] == DONE
    code, ran, err = say("run", "lake", "--profile", "lexical", "--json")
    assert code == DONE
    assert "ranker: none yet" in err
    last = latest_run(Lake.open("lake"), "lexical")
    assert (ran["profile"], ran["run_id"], ran["exit_code"], ran["failures"]) == ("lexical", last.run_id, 0, [])
    assert {stage.pop("stage"): stage for stage in ran["stages"]} == last.counts
    assert ran["empty"] == []
    tight = say("run", "lake", "--profile", "lexical", "--budgets", "3,900", "--json")[1]
    assert tight["empty"] == [{"budget": 3, "slates": len(ITEMS), "empty": len(ITEMS)}]
    assert say("run", "lake", "--profile", "lexical", "--json")[1]["empty"] == []
    last = latest_run(Lake.open("lake"), "lexical")
    code, trained, _ = say("train", "lake", "--profile", "lexical", "--out", "ranker", "--json")
    assert (code, trained["ranker"]) == (DONE, LightGBMRanker.load(Path("ranker")).identity)
    assert trained["registered"] == {"name": "slatemill-lexical", "version": "1", "champion": True}
    assert trained["metrics"]["train_ndcg_10"] > 0
    assert say("evaluate", "lake", "--profile", "lexical", "--json", "-")[1]["run_id"] == last.run_id
    assert not Path("-").exists()


@pytest.mark.cluster
def test_a_run_that_fails_says_so_in_both_and_ends_with_the_same_code(say) -> None:
    say("ingest", "lake", "good.json", "--json")
    broken = min(Path("lake").glob("turns/*/*.parquet"))
    whole = broken.read_bytes()
    broken.write_bytes(whole[:4] + b"\xff" * 400 + whole[404:])
    code, ran, err = say("run", "lake", "--profile", "lexical", "--json")
    assert (code, ran["exit_code"]) == (FAILED_SHARDS, FAILED_SHARDS)
    assert {failure["bucket"] for failure in ran["failures"]} == {int(broken.parent.name.removeprefix("bucket=b"))}
    assert err.count("failed: ") == len(ran["failures"]) > 0


@pytest.mark.flash
def test_a_metric_that_is_not_a_number_is_null() -> None:
    from jobs.train.job import TrainReport
    from models.ranker_params import RankerParams
    from models.registry import RegisteredVersion

    ranker = LightGBMRanker("", (), RankerParams(), "lexical")
    version = RegisteredVersion("slatemill-lexical", "2", "r", is_champion=False)
    told = TrainReport(ranker, {"train_auc": float("nan"), "train_ndcg_10": 0.5}, {}, version).as_dict()
    assert told["metrics"] == {"train_auc": None, "train_ndcg_10": 0.5}

"""A person's mistake ends with one line that says what is wrong, exit code 2, and no traceback."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
from fsspec.registry import _registry as loaded
from inside import said_by_main

from cluster.batches import claim
from cluster.lake import Lake
from jobs import cli
from jobs.mistakes import explain
from models.ranker import LightGBMRanker, RankerParams
from pipeline.features.registry import AGENTMEMREC
from pipeline.synth.histories import history

MISTAKES = {
    "no such lake": ("run nowhere -p lexical", "slatemill init nowhere"),
    "no such lake to ingest into": ("ingest nowhere good.json", "slatemill init nowhere"),
    "no such lake to evaluate": ("evaluate nowhere -p lexical", "slatemill init nowhere"),
    "no such lake to show": ("show nowhere r -p lexical", "slatemill init nowhere"),
    "no such lake to plan": ("plan nowhere -p lexical", "slatemill init nowhere"),
    "a lake that is a file": ("run empty.json -p lexical", "Not a directory"),
    "a lake made where a file is": ("init empty.json", "directory|exists"),
    "a lake of a name that is too long": (f"init {'x' * 300}", "File name too long"),
    "a lake below a file": ("init empty.json/lake", "directory|exists"),
    "a lake whose settings are damaged": ("run damaged -p lexical", "lake.json"),
    "a lake in storage that is not installed": ("run s3://bucket/lake -p lexical", r"slatemill\[s3\]|s3fs"),
    "a lake in storage that there is not": ("init nothing://bucket/lake", "nothing"),
    "another number of buckets": ("init lake --buckets 3", "16 buckets"),
    "too many buckets": ("init other --buckets 5000", "4096"),
    "no such profile": ("run lake -p nope", "agentmemrec, .*default, .*lexical"),
    "no such profile file": ("run lake -p nope.yaml", "no file nope.yaml"),
    "a profile that is no YAML": ("run lake -p bad.yaml", "is not YAML"),
    "a profile that is no text": ("run lake -p binary.yaml", "UTF-8"),
    "a profile that is a list": ("run lake -p list.yaml", "mapping"),
    "a profile with a misspelt key": ("run lake -p misspelt.yaml", "did you mean slates"),
    "a profile with a misspelt policy": ("run lake -p policy.yaml", "unknown policy knapsak; did you mean knapsack"),
    "a profile with a model that is not here": ("run lake -p model.yaml", "nobody/no-model"),
    "budgets that are no numbers": ("run lake -p lexical --budgets 900,many", "900,2700"),
    "a budget of nothing": ("run lake -p lexical --budgets 0", "^--budgets 0: budgets must be positive"),
    "an as-of that there is not": ("run lake -p lexical --as-of never", "^--as-of never: .*arrival"),
    "a ranker that there is not": ("run lake -p lexical --ranker ./nowhere", "no such folder"),
    "a ranker to promote that is no version": ("promote lake ./nowhere", "NAME/VERSION"),
    "a ranker to promote without a store": ("promote lake slatemill-lexical/2", "no MLflow store here"),
    "a card of a ranker that there is not": ("models card ./nowhere", "no such folder"),
    "a margin that is no share": ("promote lake slatemill-lexical/2 --margin 2", "--margin"),
    "no such lake to compare": ("compare nowhere -p lexical -a lexical", "slatemill init nowhere"),
    "nothing run that could be compared": ("compare lake -p lexical -a agentmemrec", "no run of profile lexical"),
    "no such profile to compare with": ("compare lake -p lexical -a nope:oracle", "no profile 'nope'.*agentmemrec"),
    "a budget of the other side alone": ("compare lake --against-budget 900", "--against-budget needs --budget"),
    "no such lake to tune on": ("finetune nowhere", "slatemill init nowhere"),
    "a profile without an encoder to tune": ("finetune lake -p lexical", "profile lexical has no late interaction"),
    "one fold to tune on": ("finetune lake --folds 1", "--folds"),
    "no epochs": ("finetune lake --epochs 0", "--epochs"),
    "a run by an encoder that was not tuned yet": (
        "run lake -p tuned",
        "no MLflow store: run `slatemill finetune LAKE",
    ),
    "no folds": ("train lake -p lexical --folds 0", "--folds"),
    "a run that there is not": ("evaluate lake -p lexical --run 19990101", "19990101"),
    "no run yet": ("show lake r -p lexical", "slatemill run"),
    "no source": ("ingest lake", "source"),
    "a source that is not there": ("ingest lake nowhere.json", "nowhere.json"),
    "a folder without files": ("ingest lake folder", "folder names no file"),
    "a glob without files": ("ingest lake folder/*.json", "names no file"),
    "an empty file": ("ingest lake empty.json", "empty.json: it is empty"),
    "a picture": ("ingest lake picture.json", "picture.json: it is no text.*`slatemill formats`"),
    "an empty file of a format": ("ingest lake empty.json -f longmemeval", "empty.json|JSON"),
    "a file that is no format": ("ingest lake note.json", "note.json"),
    "a file that is cut short": ("ingest lake cut.json -f longmemeval", "cut|ends|JSON"),
    "a file that is not compressed": ("ingest lake plain.json.gz", "uncompressed"),
    "a compressed file that is cut short": (
        "ingest lake cut.json.gz -f longmemeval",
        "^cut.json: it is compressed with gzip and cannot be uncompressed",
    ),
    "a source in storage that there is not": ("ingest lake nothing://x/y.json", "nothing"),
    "no such format": ("ingest lake good.json -f lokomo", "locomo"),
    "an item that is not there": ("ingest lake good.json --items 99", "99"),
    "a key without a value": ("ingest lake good.json --key history", "history=user.id"),
    "a key of a format that takes none": (
        "ingest lake good.json --key history=user",
        "takes no --key; it takes --items",
    ),
    "a key for what has none": (
        "ingest lake chat.jsonl -f openai-chat --key hist=user",
        "^--key hist=user: the left side",
    ),
    "an output below a file": ("synth empty.json/x.json", "exists|Not a directory"),
    "a ranking for a lake without requests": ("rankings import lake good.json --name mem0", "holds no request yet"),
    "a ranking called like a policy": ("rankings import lake good.json --name knapsack", "cannot be called knapsack"),
    "a ranking called nearly like a policy": (
        "rankings import lake good.json --name oracel",
        "cannot be called oracel",
    ),
    "a ranking whose name is no part of a path": ("rankings import lake good.json --name a/b", "part of a path"),
    "a policy that was not imported": ("run lake -p ranked.yaml", "mem0 was not imported.*rankings import .*knapsack"),
    "a plan with a policy that was not imported": ("plan lake -p ranked.yaml", "mem0 was not imported"),
    "a model that is not there": ("models fetch ./nowhere copy", "no folder"),
    "a model that only a hub has": ("models fetch nobody/no-model copy", "HF_HUB_OFFLINE"),
    "a folder that holds something else": ("models fetch all-MiniLM-L6-v2 full", "holds something else"),
    "no such lake to answer from": ("answer nowhere -p lexical", "slatemill init nowhere"),
    "a profile without a reader": ("answer lake -p lexical", "lexical names no reader.*`reader: {model: NAME"),
    "a shape of reading that there is not": ("answer lake --shape long", "longmemeval.*notes.*locomo"),
    "no requests at all": ("answer lake --limit 0", "--limit"),
    "no such lake to judge": ("judge nowhere -p lexical", "slatemill init nowhere"),
    "nothing run that could be judged": ("judge lake -p lexical", "no run of profile lexical"),
    "no such command": ("slate lake", "No such command"),
    "no such option": ("run lake --profil lexical", "--profile"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a lake, and with everything that a person may name by mistake."""
    folder = tmp_path_factory.mktemp("place")
    Lake.init(str(folder / "lake"))
    good = json.dumps([history(seed=1, index=0, sessions=3)])
    for name in ("folder", "full", "damaged"):
        (folder / name).mkdir()
    files = {
        "good.json": good,
        "cut.json": good[: len(good) // 2],
        "empty.json": "",
        "note.json": '"just a note"',
        "chat.jsonl": '{"messages": [{"role": "user", "content": "hi"}]}\n',
        "plain.json.gz": good,
        "full/note.txt": "mine",
        "damaged/lake.json": '{"format": 1, "buckets":',
        "bad.yaml": "name: [",
        "list.yaml": "- name",
        "misspelt.yaml": "name: x\nslaets: {}\n",
        "ranked.yaml": "name: x\nembedder: null\nrecall: {channels: [bm25]}\nslates: {policies: [mem0]}\n",
        "policy.yaml": "name: x\nslates: {policies: [knapsak]}\n",
        "model.yaml": "name: x\nembedder: {model: nobody/no-model}\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "picture.json").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (folder / "binary.yaml").write_bytes(b"name: \xff\xfe")
    whole = gzip.compress(good.encode())
    (folder / "cut.json.gz").write_bytes(whole[: len(whole) // 2])
    return folder


@pytest.mark.flash
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_said_in_words(mistake, place, monkeypatch, capsys) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{place}/mlflow.db")
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(loaded, "s3", raising=False)  # as if no test had asked for it before
    command, expected = MISTAKES[mistake]
    code, out, err = said_by_main(monkeypatch, capsys, *command.split())
    assert (code, out) == (2, ""), err
    *earlier, message = err.splitlines()
    assert [line for line in earlier if not line.startswith(("ingest: ", "ranker: "))] == []
    assert re.search(expected, message), message
    assert len(message) < 1000


@pytest.mark.flash
@pytest.mark.parametrize("words", [[], ["models"]])
def test_without_a_command_help_is_shown_and_nothing_is_complained_of(words, monkeypatch, capsys) -> None:
    code, out, err = said_by_main(monkeypatch, capsys, *words)
    assert (code, err) == (2, "")
    assert "Usage: slatemill" in out


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Without the rights of root, who reads and writes everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.flash
@pytest.mark.parametrize(
    ("command", "named"),
    [("init shut/lake", "shut"), ("synth shut/x.json", "shut"), ("ingest lake secret.json", "secret.json"),
     ("ingest lake folder", "folder"), ("run lake -p secret.yaml", "secret.yaml"),
     ("run locked -p lexical", "lake.json")],
)  # fmt: skip
def test_what_may_not_be_read_or_written_is_named(command, named, monkeypatch, capsys) -> None:
    with tempfile.TemporaryDirectory() as passing:
        folder = Path(passing)
        folder.chmod(0o755)
        for name in ("lake", "locked"):
            Lake.init(str(folder / name))
        for name in ("shut", "folder"):
            (folder / name).mkdir()
        for name in ("secret.json", "secret.yaml", "folder/secret.json"):
            (folder / name).write_text("[]")
            (folder / name).chmod(0)
        (folder / "locked" / "lake.json").chmod(0)
        (folder / "shut").chmod(0o555)
        monkeypatch.chdir(folder)
        with ordinary_user():
            code, out, err = said_by_main(monkeypatch, capsys, *command.split())
    assert (code, out) == (2, "")
    assert named in err
    assert "Permission denied" in err


@pytest.mark.flash
def test_a_bug_of_ours_is_not_passed_off_as_a_mistake() -> None:
    assert explain(KeyError("n_tokens")) is None
    assert explain(OSError(28, "No space left on device", "slates.parquet")) == (
        "slates.parquet: No space left on device",
        1,
    )


@pytest.mark.flash
def test_libraries_that_are_loaded_in_part_do_not_hide_an_error(monkeypatch) -> None:
    for name in ("botocore", "mlflow"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        monkeypatch.delitem(sys.modules, f"{name}.exceptions", raising=False)
    assert explain(KeyError("n_tokens")) is None


@pytest.mark.flash
def test_brackets_in_a_path_are_no_markup(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert said_by_main(monkeypatch, capsys, "synth", "[red]x.json", "--histories", "1", "--sessions", "1")[
        1
    ].startswith("[red]x.json: 1 histories")
    (tmp_path / "p.yaml").write_text("name: x\nembedder: null\nrecall: {channels: [bm25]}\n")
    LightGBMRanker("", AGENTMEMREC, RankerParams(), "x").save(tmp_path / "[red]ranker")
    said_by_main(monkeypatch, capsys, "init", "lake")
    assert (
        "[red]ranker"
        in said_by_main(monkeypatch, capsys, "status", "lake", "-p", "p.yaml", "--ranker", "[red]ranker")[2]
    )


@pytest.mark.slow
def test_an_mlflow_that_is_away_is_said_to_be_so_without_its_password() -> None:
    from mlflow import MlflowException

    message, code = explain(MlflowException("no answer from http://ada:secret@mlflow.example/api"))
    assert (code, "secret" in message, "http://mlflow.example/api" in message) == (1, False, True)


@pytest.mark.flash
def test_main_lets_a_bug_of_ours_through(monkeypatch) -> None:
    def broken(**options: object) -> None:
        raise KeyError("n_tokens")

    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(KeyError):
        cli.main()


@pytest.mark.flash
def test_a_source_over_the_quarantine_limit_says_why_it_ends_with_code_3_and_how_to_look(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lossy.jsonl").write_text('{"history_id": "a", "requests": [{"request_id": "q", "text": "?"}]}\n{no json\n')
    assert said_by_main(monkeypatch, capsys, "init", "lake")[1].count(": made, 16 buckets") == 1
    assert said_by_main(monkeypatch, capsys, "init", "lake")[1].count(": there already, 16 buckets") == 1
    code, out, err = said_by_main(monkeypatch, capsys, "ingest", "lake", "lossy.jsonl")
    assert code == 3
    assert "`slatemill quarantine show lake --stage ingest`" in out
    assert "more than 1% of the rows of lossy.jsonl are in quarantine, all else is stored: hence exit code 3" in err


@pytest.mark.flash
@pytest.mark.parametrize(("turns", "ends"), [(49, 3), (98, 3), (99, 0), (199, 0)])
def test_a_source_may_lose_a_hundredth_of_its_rows_and_no_more(turns, ends, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    said = [{"role": "user", "text": f"hill {number}"} for number in range(turns)]
    line = json.dumps({"history_id": "a", "sessions": [{"turns": said}]})
    Path("lossy.jsonl").write_text(f"{line}\n{{no json\n")
    Lake.init("lake")
    assert said_by_main(monkeypatch, capsys, "ingest", "lake", "lossy.jsonl")[0] == ends


@pytest.mark.flash
def test_a_command_that_a_message_tells_to_give_can_be_copied_whatever_the_lake_is_called(
    tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    Path("lossy.jsonl").write_text('{"history_id": "a", "requests": [{"request_id": "q", "text": "?"}]}\n{no json\n')
    of_lake = "status -p lexical", "init", "ingest lossy.jsonl", "evaluate -p lexical", "status -p lexical"
    told = ""
    for words in (*of_lake, "quarantine show -s nope"):
        name, *more = words.replace("quarantine show", "quarantine_show").split()
        told += "".join(said_by_main(monkeypatch, capsys, *name.split("_"), "my lake", *more)[1:])
    claim(Lake.open("my lake"), "f" * 64)
    for words in ("status", "ingest"):
        more = ["-p", "lexical"] if words == "status" else ["lossy.jsonl", "--items", "0"]
        told += "".join(said_by_main(monkeypatch, capsys, words, "my lake", *more)[1:])
    copied = {tuple(shlex.split(" ".join(text.split()))) for text in re.findall(r"`(slatemill [^`]*)`", told)}
    whole = {words for words in copied if any(word.endswith("lake") for word in words)}
    assert {tuple(word for word in words if not word.endswith("my lake"))[1:] for words in whole} == {
        ("init",),
        ("quarantine", "show", "--stage", "ingest"),
        ("quarantine", "list"),
        ("run", "--profile", "lexical"),
        ("plan", "--profile", "lexical"),
        ("ingest", "--void"),
    }

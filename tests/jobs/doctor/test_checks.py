"""What `slatemill doctor` says of a machine that works, of one that does not, and of a check that breaks."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from cross_encoders import tiny_cross_encoder
from huggingface_hub import constants
from inside import said_by_main
from rich.console import Console

from cluster.errors import LakeError
from cluster.lake import Lake
from cluster.storage import Storage
from jobs.config import CrossEncoderOptions, EmbedderOptions, Profile, load_profile
from jobs.doctor import checks, choices, lakes, machine, software
from jobs.doctor.check import Check, Finding, Found, examine, works
from jobs.doctor.report import show_finding
from models import resolve
from models.shipped import shipped

LEXICAL = load_profile("lexical")
DENSE = load_profile("agentmemrec")


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Caches, MLflow's store and the working folder lie in the test's own folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


def doctor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    return said_by_main(monkeypatch, capsys, "doctor", *words)


def look(found: Found | Exception, name: str = "one", needed: bool = True) -> Check:
    def looked() -> Found:
        if isinstance(found, Exception):
            raise found
        return found

    return Check(name, needed, looked)


@pytest.mark.cluster
def test_on_this_machine_the_profile_without_a_model_works_and_json_says_the_same(
    tmp_path, monkeypatch, capsys
) -> None:
    Lake.init(str(tmp_path / "lake"))
    code, out, err = doctor(monkeypatch, capsys, str(tmp_path / "lake"), "-p", "lexical", "--json")
    assert (code, err) == (0, "")
    said = json.loads(out)
    assert (said["profile"], said["works"]) == ("lexical", True)
    found = {check["name"]: check for check in said["checks"]}
    assert "worked off a task" in found["ray"]["said"]
    assert [name for name, check in found.items() if check["state"] == "fails"] == []
    assert (found["lake"]["state"], found["one writer wins"]["state"]) == ("ok", "ok")
    assert sorted(path.name for path in (tmp_path / "lake").iterdir()) == ["lake.json"]
    assert not (tmp_path / "mlflow.db").exists()


@pytest.mark.flash
def test_a_check_that_raises_has_failed_and_the_others_go_on(monkeypatch, capsys) -> None:
    broken = look(RuntimeError("the\nfloor"), "floor")
    made = [look(Found("ok", "stands")), broken, look(Found("warning", "leaks", "mend it"), "roof")]
    monkeypatch.setattr(checks, "checks_for", lambda profile, lake: made)
    code, out, err = doctor(monkeypatch, capsys)
    assert (code, err) == (1, "")
    assert "Traceback" not in out
    assert [line.split()[0] for line in out.splitlines() if line[:1].isalpha()] == ["ok", "fails", "warning", "profile"]
    assert "RuntimeError: the floor" in out
    assert "-> mend it" in out


@pytest.mark.flash
@pytest.mark.parametrize(
    ("state", "needed", "well"),
    [("fails", True, False), ("fails", False, True), ("warning", True, True), ("ok", True, True)],
)
def test_only_what_is_needed_and_fails_makes_it_fail(state, needed, well) -> None:
    assert works(examine([look(Found(state, "said"), needed=needed)])) is well


@pytest.mark.flash
def test_a_finding_fits_80_columns_and_keeps_what_looks_like_markup() -> None:
    out = io.StringIO()
    said = "pip install 'slatemill[s3]' " + "/a/long/path" * 20
    show_finding(Finding("one writer wins", True, "warning", said, "do this"), Console(file=out, width=80))
    assert max(map(len, out.getvalue().splitlines())) <= 80
    assert "slatemill[s3]" in out.getvalue()


@pytest.mark.flash
@pytest.mark.parametrize(
    ("version", "state", "said"),
    [("25.0.1", "ok", ""), ("24.0", "fails", "pyarrow is 24.0, not "), (None, "fails", "pyarrow is missing")],
)
def test_a_package_of_another_version_is_named(version, state, said, monkeypatch) -> None:
    real = metadata.version

    def changed(name: str) -> str:
        if name == "pyarrow" and version is None:
            raise metadata.PackageNotFoundError(name)
        return version if name == "pyarrow" else real(name)

    monkeypatch.setattr(software.metadata, "version", changed)
    found = software.packages()
    assert (found.state, said in found.said) == (state, True)


@pytest.mark.flash
def test_another_python_is_named(monkeypatch) -> None:
    assert software.python().state == "ok"
    monkeypatch.setattr(software.platform, "python_version", lambda: "3.9.1")
    assert (software.python().state, software.python().said) == ("fails", "Python 3.9.1")


@pytest.mark.flash
@pytest.mark.parametrize(("needed", "state"), [(True, "fails"), (False, "ok")])
def test_an_extra_fails_only_where_it_is_needed_and_is_not_imported(needed, state, monkeypatch) -> None:
    monkeypatch.setattr(software.importlib.util, "find_spec", lambda name: None)
    found = software.extra("s3fs", "s3", "for s3:// addresses", needed)
    assert (found.state, "slatemill[s3]" in found.said + found.to_do) == (state, True)


@pytest.mark.flash
def test_an_s3_lake_needs_the_extra(monkeypatch) -> None:
    monkeypatch.setattr(software.importlib.util, "find_spec", lambda name: None)
    found = {check.name: check for check in checks.checks_for(LEXICAL, "s3://bucket/lake")}
    assert (found["s3"].needed, found["s3"].look().state) == (True, "fails")


@pytest.mark.flash
def test_a_ray_that_hangs_is_given_up_and_one_that_breaks_is_quoted(tmp_path, monkeypatch) -> None:
    def program(text: str) -> None:
        script = tmp_path / "python"
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
        monkeypatch.setattr(machine.sys, "executable", str(script))

    program("sleep 60")
    found = machine.ray(limit_s=0.2)
    assert (found.state, "within 0 s" in found.said) == ("fails", True)
    program("echo begun; echo 'OSError: no room in /tmp' >&2; exit 3")
    found = machine.ray()
    assert (found.state, found.said) == ("fails", "a local Ray does not work: OSError: no room in /tmp")


@pytest.mark.flash
@pytest.mark.parametrize(
    ("free_gb", "shared_mb", "state", "to_do"),
    [(64, 4096, "ok", ""), (4, 4096, "warning", "--workers 4"), (64, 64, "warning", "--shm-size")],
)
def test_little_memory_and_little_shared_memory_are_warned_of(free_gb, shared_mb, state, to_do, monkeypatch) -> None:
    monkeypatch.setattr(machine, "_free_memory", lambda: int(free_gb * 1e9))
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 8)
    monkeypatch.setattr(machine.Path, "is_dir", lambda path: True)
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda path: SimpleNamespace(free=shared_mb * 2**20))
    found = machine.memory()
    assert (found.state, to_do in found.to_do) == (state, True)


@pytest.mark.flash
def test_the_embedder_is_found_here_or_asked_for_at_the_hub_and_never_fetched(monkeypatch) -> None:
    assert choices.embedder(LEXICAL).state == "ok"
    here = choices.embedder(DENSE)
    assert (here.state, "package" in here.said, "384" in here.said) == ("ok", True, True)
    elsewhere = Profile(name="x", embedder=EmbedderOptions(model="BAAI/bge-m3"))
    (finding,) = examine([Check("embedder", True, lambda: choices.embedder(elsewhere))])
    assert (finding.state, "HF_HUB_OFFLINE" in finding.said) == ("fails", True)
    asked = []

    def hub(name: str, *, dry_run: bool, **patterns: list[str]) -> list[SimpleNamespace]:
        asked.append(dry_run)
        return [SimpleNamespace(file_size=2_000_000_000, will_download=True)]

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(resolve, "snapshot_download", hub)
    found = choices.embedder(elsewhere)
    assert (found.state, found.to_do, asked) == ("warning", "slatemill models fetch BAAI/bge-m3", [True])
    assert "2,000 MB" in found.said


@pytest.mark.flash
def test_a_cross_encoder_is_looked_for_and_a_model_that_is_none_fails() -> None:
    assert choices.cross_encoder(DENSE).said == "profile agentmemrec uses none"
    far = Profile(name="x", cross_encoder=CrossEncoderOptions())
    none = Profile(name="x", cross_encoder=CrossEncoderOptions(model="all-MiniLM-L6-v2"))
    for profile, said in ((far, "HF_HUB_OFFLINE"), (none, "no cross-encoder")):
        (check,) = (check for check in checks.checks_for(profile, None) if check.name == "cross-encoder")
        (finding,) = examine([check])
        assert (finding.state, finding.needed, said in finding.said) == ("fails", True, True)


@pytest.mark.flash
def test_a_cross_encoder_that_is_here_is_said_where_it_lies(tmp_path) -> None:
    folder = tiny_cross_encoder(tmp_path / "tiny")
    here = Profile(name="x", cross_encoder=CrossEncoderOptions(model=str(folder), max_tokens=64))
    assert choices.cross_encoder(here) == Found("ok", f"{folder}: path, {folder}")


@pytest.mark.flash
def test_the_token_counter_must_count_a_known_sentence_right(monkeypatch) -> None:
    assert lakes.tokenizer(None).state == "ok"
    monkeypatch.setattr(lakes, "token_counter", lambda name: SimpleNamespace(count=lambda text: 7))
    assert lakes.tokenizer(None).state == "fails"


@pytest.mark.slow
def test_mlflow_that_is_locked_or_away_fails_at_once_and_no_password_is_shown(tmp_path, monkeypatch) -> None:
    assert "made by the first" in choices.mlflow().said
    database = tmp_path / "mlflow.db"
    database.write_bytes(b"no database" * 100)
    assert (choices.mlflow().state, "not a database" in choices.mlflow().said) == ("fails", True)
    database.unlink()
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("CREATE TABLE t (x)")
    holder.execute("BEGIN EXCLUSIVE")
    assert "locked" in choices.mlflow().said
    holder.close()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://ada:secret@127.0.0.1:9")
    found = choices.mlflow()
    assert (found.state, "secret" in found.said, "MLFLOW_TRACKING_URI" in found.to_do) == ("fails", False, True)
    found = choices.ranker(LEXICAL)
    assert (found.state, "secret" in found.said, found.to_do) == ("warning", False, "see mlflow above")


@pytest.mark.flash
def test_a_champion_that_a_run_would_refuse_is_no_good_one(monkeypatch) -> None:
    default = load_profile("default")
    assert choices.ranker(default) == Found("ok", "shipped/default")
    ranker = shipped("shipped/default")
    for other, why in (
        (replace(ranker, feature_names=("another", *ranker.feature_names[1:])), "features that profile default"),
        (replace(ranker, scored_by=("0123456789abcdef",)), "the scores of another model"),
    ):
        monkeypatch.setattr(choices, "ranker_for", lambda profile, named, other=other: (other, "slatemill-default"))
        found = choices.ranker(default)
        assert (found.state, why in found.said) == ("warning", True)


@pytest.mark.slow
def test_mlflow_s_own_store_says_where_files_go(tmp_path) -> None:
    from models.tracking import client

    client().create_experiment("slatemill")
    found = choices.mlflow()
    assert (found.state, str(tmp_path) in found.said, "files go to" in found.said) == ("ok", True, True)


@pytest.mark.flash
def test_a_place_for_a_lake_is_looked_at_and_left_as_it_was(tmp_path) -> None:
    url = str(tmp_path / "deep" / "lake")
    assert (lakes.opened(url).state, lakes.opened(url).to_do) == ("warning", f"slatemill init {url}")
    assert (lakes.exclusive(url).state, lakes.room(url).state) == ("ok", "ok")
    assert list(tmp_path.iterdir()) == []
    Lake.init(url)
    assert lakes.opened(url).said.startswith("16 buckets, 0 batch(es)")
    (tmp_path / "file").touch()
    assert lakes.opened(str(tmp_path / "file")).state == "fails"
    assert lakes.room("memory://place/lake").state == "ok"
    assert lakes.exclusive("memory://place/lake").state == "ok"


@pytest.mark.flash
@pytest.mark.parametrize(("free", "state"), [(1e7, "fails"), (1e9, "warning"), (1e12, "ok")])
def test_a_full_disk_fails_and_a_nearly_full_one_is_warned_of(free, state, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(lakes.shutil, "disk_usage", lambda path: SimpleNamespace(free=free))
    assert lakes.room(str(tmp_path)).state == state


def _no_links(storage: Storage, path: str, data: bytes) -> bool:
    raise LakeError("the disk has no hard links: choose a folder on another disk")


def _both_win(storage: Storage, path: str, data: bytes) -> bool:
    storage.replace(path, data)
    return True


@pytest.mark.flash
@pytest.mark.parametrize("create", [_no_links, _both_win])
def test_a_disk_on_which_two_writers_may_both_win_fails(create: Callable[..., bool], tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(Storage, "create", create)
    (finding,) = examine([Check("one writer wins", True, lambda: lakes.exclusive(str(tmp_path)))])
    assert finding.state == "fails"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.flash
def test_a_lake_that_cannot_be_read_is_one_failed_check_and_tokens_are_counted_all_the_same(
    tmp_path, monkeypatch
) -> None:
    (tmp_path / "lake.json").write_text("{")
    looked_at = ("tokenizer", "lake")
    found = examine(check for check in checks.checks_for(LEXICAL, str(tmp_path)) if check.name in looked_at)
    assert [(finding.name, finding.state) for finding in found] == [("tokenizer", "ok"), ("lake", "fails")]


@pytest.mark.parametrize("package", ["ray", "fsspec", "tiktoken", "huggingface_hub", "packaging"])
def test_a_package_that_is_missing_fails_its_checks_and_stops_no_other(package) -> None:
    program = (
        "import sys\n"
        f"sys.modules[{package!r}] = None\n"
        "from jobs.doctor import checks, check\n"
        "from jobs.config import load_profile\n"
        "made = checks.checks_for(load_profile('agentmemrec'), 'lake')\n"
        f"slow = ('mlflow', {'' if package == 'ray' else 'ray'!r})\n"
        "found = check.examine(one for one in made if one.name not in slow)\n"
        "print(*(f'{one.name}: {one.state}' for one in found), sep='\\n')\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    states = dict(line.split(": ") for line in done.stdout.splitlines())
    assert len(states) > 10
    assert "fails" in states.values()
    assert "ok" in states.values()


@pytest.mark.flash
def test_an_unknown_profile_is_a_mistake(monkeypatch, capsys) -> None:
    assert doctor(monkeypatch, capsys, "-p", "nope")[0] == 2


@pytest.mark.flash
def test_the_encoders_of_late_interaction_are_looked_for_where_a_profile_reads_by_them(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/none.db")
    assert choices.late_interaction(DENSE).said == "profile agentmemrec uses none"
    assert choices.late_interaction(load_profile("default")).said.endswith("384 values a vector")
    assert choices.tuned_encoder(load_profile("default")).said == "profile default uses none"
    lacking = choices.tuned_encoder(load_profile("tuned"))
    assert (lacking.state, lacking.to_do) == ("fails", "slatemill finetune LAKE --profile tuned")
    (check,) = (check for check in checks.checks_for(load_profile("tuned"), None) if check.name == "tuned encoder")
    assert check.needed

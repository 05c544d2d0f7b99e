"""A model's digest: of what decides its output, wherever it lies, and remembered."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from models import digests
from models.digests import weights_digest


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


FILES = ["config.json", "1_Pooling/config.json", "tokenizer.json", "model.safetensors", "vocab.txt"]
FILES += ["colbert_linear.pt", "artifact.metadata"]


def make_model(folder: Path) -> Path:
    (folder / "1_Pooling").mkdir(parents=True)
    for name in FILES:
        (folder / name).write_text(f"content of {name}")
    return folder


@pytest.mark.flash
@pytest.mark.parametrize("name", FILES)
def test_every_file_that_matters_counts(tmp_path: Path, name: str) -> None:
    model = make_model(tmp_path / "model")
    before = weights_digest(model)
    (model / name).write_text("something else")
    assert weights_digest(model) != before


@pytest.mark.flash
def test_a_file_s_name_counts_with_its_content(tmp_path: Path) -> None:
    model = make_model(tmp_path / "model")
    before = weights_digest(model)
    (model / "tokenizer.json").rename(model / "added_tokens.json")
    assert weights_digest(model) != before


@pytest.mark.flash
def test_documentation_and_other_formats_do_not_count_nor_does_the_place(tmp_path: Path) -> None:
    model, other = make_model(tmp_path / "model"), make_model(tmp_path / "elsewhere" / "copy")
    (other / "onnx").mkdir()
    for name in ("README.md", "pytorch_model.bin", "onnx/config.json", "data_config.json", ".gitattributes"):
        (other / name).write_text("beside the point")
    assert weights_digest(other) == weights_digest(model)


@pytest.mark.flash
def test_it_is_remembered_by_path_size_and_mtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_model(tmp_path / "model")
    before = weights_digest(model)
    with monkeypatch.context() as patch:
        patch.setattr(digests, "_digest", lambda *_: pytest.fail("it was computed again"))
        assert weights_digest(model) == before
    weights = model / "model.safetensors"
    weights.write_text("content of model.safetensorZ")
    os.utime(weights, ns=(0, weights.stat().st_mtime_ns + 1))
    assert weights_digest(model) != before


@pytest.mark.flash
def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_model(tmp_path / "model")
    before = weights_digest(model)
    monkeypatch.setenv("XDG_CACHE_HOME", str(model / "config.json"))
    assert weights_digest(model) == before


@pytest.mark.flash
def test_a_folder_without_weights_is_an_error(tmp_path: Path) -> None:
    model = make_model(tmp_path / "model")
    (model / "model.safetensors").unlink()
    with pytest.raises(ValueError, match="holds no weights"):
        weights_digest(model)

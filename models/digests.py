"""The digest of a model's folder: what a stamp says of the weights that made a vector."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

from models.user_cache import user_cache, write_atomically

_WEIGHTS = ("*.safetensors", "*.bin", "*.gguf")
_HEADS = ("colbert_linear.pt",)  # bge-m3's multi-vector head, beside its weights
_CONFIGS = (
    "config.json",
    "artifact.metadata",
    "modules.json",
    "*_config.json",
    "config_*.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "tokenizer.json",
    "tokenizer.model",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "*.bpe.model",
    "spiece.model",
)
# data_config.json lists what all-MiniLM-L6-v2 was trained on; the others hold the same weights for other runtimes.
_BESIDE_THE_POINT = ("data_config.json", "training_args.bin")
_OTHER_RUNTIMES = ("onnx", "openvino", "checkpoint")

MODEL_FILES = (*_WEIGHTS, *_HEADS, *_CONFIGS, "*/config.json")
"""Patterns of the files that decide what a model computes, as paths in its repository: weights, tokenizer, configs."""

NOT_MODEL_FILES = (*_BESIDE_THE_POINT, *(f"{folder}*/*" for folder in _OTHER_RUNTIMES))
"""Patterns of files that MODEL_FILES covers and that do not count."""


def weights_digest(path: Path) -> str:
    """SHA-256 (hex) over the files of a model that decide what it computes, names and contents, in order of name.

    Documentation, training scripts and the same weights in a second format do not count, so a model has one digest
    whether it came from a package, the cache or a folder. Remembered in the user's cache by path, size and mtime.
    Raises ValueError when the folder holds no weights.
    """
    path = path.resolve()
    files = model_files(path)
    seen = [(str(file.relative_to(path)), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    key = hashlib.sha256(json.dumps([str(path), seen]).encode()).hexdigest()
    remembered = user_cache() / "digests" / key
    try:
        return remembered.read_text()
    except OSError:
        digest = _digest(path, files)
    with contextlib.suppress(OSError):  # a home that cannot be written costs time, nothing else
        write_atomically(remembered, digest.encode())
    return digest


def weights_files(path: Path) -> list[Path]:
    """The weights files of a model's folder, in its first format of safetensors, bin and gguf."""
    for pattern in _WEIGHTS:
        if files := _matching(path, pattern):
            return files
    return []


def model_files(path: Path) -> list[Path]:
    """The files of a model that decide what it computes, by name. Raises ValueError where there are no weights."""
    weights = weights_files(path)
    if not weights:
        raise ValueError(f"folder {path} holds no weights ({', '.join(_WEIGHTS)}): it is no model")
    others = {file for pattern in (*_HEADS, *_CONFIGS) for file in _matching(path, pattern)}
    return sorted({*weights, *others}, key=lambda file: file.relative_to(path).as_posix())


def _matching(path: Path, pattern: str) -> list[Path]:
    return sorted(
        file
        for file in path.rglob(pattern)
        if file.is_file()
        and file.name not in _BESIDE_THE_POINT
        and not any(part.startswith(_OTHER_RUNTIMES) for part in file.relative_to(path).parts[:-1])
    )


def _digest(path: Path, files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as content:
            inner = hashlib.file_digest(content, "sha256").hexdigest()
        digest.update(f"{file.relative_to(path).as_posix()}\0{inner}\n".encode())
    return digest.hexdigest()

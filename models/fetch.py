"""Bringing a model to a folder of its own, for machines that have neither the package nor a network."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.digests import model_files, weights_digest, weights_files
from models.gguf import GGUF_PACKAGES, convert, converted_folder, gguf_file
from models.resolve import Source, find_here, resolve


class FolderTaken(ValueError):
    """The folder holds something else; the message says what to do."""


@dataclass(frozen=True)
class Fetched:
    """Where a model lies now, where it came from, and whether it lay there before."""

    path: Path
    found_in: Source
    already: bool

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        return {"path": str(self.path), "found_in": self.found_in, "already": self.already}


def fetch(name: str, folder: Path | None = None) -> Fetched:
    """Brings a model to this machine, or, with `folder`, there: the files that decide what it computes, by copy.

    A language model that a package carries as GGUF is made into such files, once for a user. The folder appears whole
    or not at all. Raises ModelNotFound, or FolderTaken when the folder holds anything but this model.
    """
    made = name.lower() in GGUF_PACKAGES and find_here(name) is None and _make(name)
    found = resolve(name)
    if folder is None:
        return Fetched(found.path, found.found_in, already=found.found_in != "hub" and not made)
    if _is_there(folder, found.path):
        return Fetched(folder, found.found_in, already=True)
    with _passing(folder) as copy:
        for file in model_files(found.path):
            target = copy / file.relative_to(found.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    return Fetched(folder, found.found_in, already=False)


def _make(name: str) -> bool:
    """Makes the folder of a model that a package carries as GGUF; False where no package does."""
    file = gguf_file(name)
    if file is None:
        return False
    with _passing(converted_folder(name)) as made:
        convert(file, made)
    return True


@contextmanager
def _passing(folder: Path) -> Iterator[Path]:
    """A folder to write to, which becomes `folder` at the end."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as passing:
        copy = Path(passing) / "model"
        copy.mkdir()
        yield copy
        copy.replace(folder)


def _is_there(folder: Path, model: Path) -> bool:
    """Whether the folder holds the model. Raises FolderTaken when it holds anything else."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return False
    if folder.is_dir() and weights_files(folder) and weights_digest(folder) == weights_digest(model):
        return True
    raise FolderTaken(f"{folder} holds something else: name a folder that is not there yet")

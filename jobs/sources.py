"""The files that a source names: one file, a folder or a glob, here or behind an address, compressed or not."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
from fsspec.core import url_to_fs

from pipeline.ingest.errors import IngestError
from pipeline.ingest.source import SUFFIXES, Document

_BLOCK = 1 << 20
_CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}


@dataclass(frozen=True)
class File:
    """One file of a source: its filesystem and path there, its size in bytes, and its name relative to the source."""

    fs: Any
    path: str
    size: int
    name: str

    def digest(self) -> str:
        """sha256 of the bytes as they lie there."""
        running = hashlib.sha256()
        with self.fs.open(self.path, "rb") as stream:
            while block := stream.read(_BLOCK):
                running.update(block)
        return running.hexdigest()

    @contextmanager
    def document(self) -> Iterator[tuple[Document, Any]]:
        """The uncompressed document, and the stream of the bytes as they lie there (its place says how far it is).

        Reading the document raises IngestError where what was compressed is cut or damaged.
        """
        codec = _codec(self.path)
        with self.fs.open(self.path, "rb") as stream:
            shown = stream if codec is None else _Uncompressed(stream, codec, self.name)
            yield Document.of(shown, _uncompressed_name(self.name)), stream


class _Uncompressed(io.RawIOBase):
    """A stream that is uncompressed while it is read, and says which file is damaged.

    By Arrow, not by fsspec: zstandard's reader takes a file that was cut for one that has ended.
    """

    def __init__(self, stream: Any, codec: str, name: str) -> None:
        self._stream = pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), codec)
        self._file = name

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        try:
            data = self._stream.read(len(target))
        except (pa.ArrowException, OSError) as error:
            raise IngestError(f"{self._file} cannot be uncompressed: {error}") from error
        target[: len(data)] = data
        return len(data)


def files_of(source: str) -> list[File]:
    """The files of a source, by name.

    Raises FileNotFoundError where there is none, IngestError for an unknown URL, and for a pipe or a device, since a
    source is read several times.
    """
    try:
        fs, path = url_to_fs(source)
    except (ImportError, ValueError) as error:
        raise IngestError(f"{source} cannot be reached ({error}): for s3:// install slatemill[s3]") from error
    if not fs.exists(path) and re.search(r"[*?\[]", path):
        paths = [found for found in fs.glob(path) if not fs.isdir(found)]
        root = re.split(r"[*?\[]", path, maxsplit=1)[0].rpartition("/")[0]
    elif fs.isdir(path):
        paths, root = [found for found in fs.find(path) if _is_taken(found)], path.rstrip("/")
    elif fs.exists(path):
        paths, root = [path], path.rpartition("/")[0]
    else:
        raise FileNotFoundError(f"{source}: there is no such file or folder")
    if not paths:
        raise FileNotFoundError(f"{source} names no file; of a folder these are taken: {', '.join(SUFFIXES)}")
    for found in paths:
        if not fs.isfile(found) and fs.exists(found):
            raise IngestError(f"{found} is a pipe or a device: write what comes out of it to a file, and name that")
    return [File(fs, found, fs.size(found), found[len(root) :].lstrip("/")) for found in sorted(paths)]


def source_digest(files: Sequence[File], with_names: bool) -> list[Any]:
    """What tells a source by its content: each file's digest, with the names where they matter."""
    return [[file.name, file.digest()] if with_names else file.digest() for file in files]


def _codec(path: str) -> str | None:
    return _CODECS.get(PurePosixPath(path).suffix.lower())


def _uncompressed_name(name: str) -> str:
    return name if _codec(name) is None else str(PurePosixPath(name).with_suffix(""))


def _is_taken(path: str) -> bool:
    return _uncompressed_name(path).lower().endswith(SUFFIXES) and not PurePosixPath(path).name.startswith(".")

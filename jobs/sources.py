"""The files that a source names: one file, a folder or a glob, here or behind an address, compressed or not."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
from fsspec.core import url_to_fs

from jobs.reach import address_without_secrets, info_of, is_remote, lacks_bucket, opened, reached
from pipeline.ingest.errors import IngestError
from pipeline.ingest.source import SUFFIXES, Document

_BLOCK = 1 << 20
_CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}


@dataclass(frozen=True)
class File:
    """One file of a source: its filesystem and path there, its size in bytes, and its name relative to the source.

    `version` is what changes when a store gets it anew. To read it raises IngestError where that was since it was
    listed, so that what is stored is what was counted as seen; and NotReached where a store does not give it.
    """

    fs: Any
    path: str
    size: int
    name: str
    version: object

    def digest(self) -> str:
        """sha256 of the bytes as they lie there."""
        running = hashlib.sha256()
        with self._opened() as stream:
            while block := stream.read(_BLOCK):
                running.update(block)
        return running.hexdigest()

    @contextmanager
    def document(self) -> Iterator[tuple[Document, Any]]:
        """The uncompressed document, and the stream of the bytes as they lie there (its place says how far it is).

        Reading the document raises IngestError where what was compressed is cut or damaged.
        """
        codec = _codec(self.name)
        with self._opened() as stream:
            plain = stream if codec is None else _Uncompressed(stream, codec)
            yield Document.of(plain, _uncompressed_name(self.name)), stream

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        address = str(self.fs.unstrip_protocol(self.path))
        if is_remote(self.fs):
            with reached(self.fs, address):
                info = info_of(self.fs, self.path)
                if info is None:
                    raise FileNotFoundError(self.path)
            if _version(info) != self.version:
                raise IngestError(f"{address_without_secrets(address)} was written again meanwhile: ingest it again")
        with opened(self.fs, self.path, address) as stream:
            yield stream


class _Uncompressed(io.RawIOBase):
    """A stream that is uncompressed while it is read.

    By Arrow, not by fsspec: zstandard's reader takes a file that was cut for one that has ended.
    """

    def __init__(self, stream: Any, codec: str) -> None:
        self._stream = pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), codec)
        self._codec = codec

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        try:
            data = self._stream.read(len(target))
        except (pa.ArrowException, OSError) as error:
            raise IngestError(f"it is compressed with {self._codec} and cannot be uncompressed: {error}") from error
        target[: len(data)] = data
        return len(data)


def files_of(source: str) -> list[File]:
    """The files of a source, by name.

    Raises FileNotFoundError where there is none, IngestError for an address that nothing here can read, and for a pipe
    or a device (a source is read several times), NotReached for a store that is away or does not let it be read.
    """
    if lacks_bucket(source):
        raise IngestError(
            "an S3 address begins with the name of one bucket: s3://bucket/key. Credentials come from the environment, "
            "see docs/formats.md"
        )
    place = address_without_secrets(source)
    try:
        fs, path = url_to_fs(source)
    except (ImportError, ValueError) as error:
        raise IngestError(f"{place} cannot be reached ({error}): for s3:// install slatemill[s3]") from error
    with reached(fs, source):
        found = _found(fs, path)
    if found is None:
        raise FileNotFoundError(f"{place}: there is no such file or folder")
    root, infos = found
    if not infos:
        raise FileNotFoundError(f"{place} names no file; of a folder these are taken: {', '.join(SUFFIXES)}")
    for file, told in infos.items():
        if told["type"] == "other":
            raise IngestError(f"{file} is a pipe or a device: write what comes out of it to a file, and name that")
    return [File(fs, file, infos[file]["size"], _name(fs, file, root), _version(infos[file])) for file in sorted(infos)]


def _found(fs: Any, path: str) -> tuple[str, dict[str, Any]] | None:
    """Where a source begins, and what a filesystem says of each path that it names; None where nothing is there."""
    if is_remote(fs):
        fs.invalidate_cache()
    info = info_of(fs, path)
    if info is None:
        if not re.search(r"[*?\[]", path):
            return None
        root = re.split(r"[*?\[]", path, maxsplit=1)[0].rpartition("/")[0]
        infos = {found: fs.info(found) for found in fs.glob(path) if not fs.isdir(found)}
    elif info["type"] == "directory":
        root = path.rstrip("/")
        infos = {found: fs.info(found) for found in fs.find(path) if _is_taken(found)}
    else:
        root, infos = path.rpartition("/")[0], {path: info}
    return root, infos


def source_digest(files: Sequence[File], with_names: bool) -> list[Any]:
    """What tells a source by its content: each file's digest, with the names where they matter."""
    return [[file.name, file.digest()] if with_names else file.digest() for file in files]


def _version(info: Mapping[str, Any]) -> object:
    """What changes when a file is written again: its size, and what its store has of ETag or time."""
    return info["size"], info.get("ETag") or info.get("created")


def _name(fs: Any, path: str, root: str) -> str:
    """A path relative to where its source begins; what a web address asks, signatures too, is not part of a name."""
    name = path[len(root) :].lstrip("/")
    return name.partition("?")[0] if "http" in fs.protocol else name


def _codec(path: str) -> str | None:
    return _CODECS.get(PurePosixPath(path).suffix.lower())


def _uncompressed_name(name: str) -> str:
    return name if _codec(name) is None else str(PurePosixPath(name).with_suffix(""))


def _is_taken(path: str) -> bool:
    return _uncompressed_name(path).lower().endswith(SUFFIXES) and not PurePosixPath(path).name.startswith(".")

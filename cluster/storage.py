"""Files of a lake, through fsspec: exclusive creation, atomic replacement, and never half a file under a final name."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, cast

import fsspec

from cluster.errors import LakeError

_TEMPORARY = ".tmp"
_BLOCK = 1 << 20
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS)


class FileInfo(NamedTuple):
    """A file: its path relative to the root, its size in bytes, and what changes when it is written again."""

    path: str
    size: int
    version: str


class Storage:
    """The files below one root; paths are POSIX and relative to it. Picklable.

    Raises LakeError for a URL of a kind that nothing installed can read.
    """

    def __init__(self, url: str) -> None:
        try:
            self.fs, self.root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise LakeError(f"{url} cannot be reached ({error}): for s3:// install slatemill[s3]") from error
        self.root = str(self.root).rstrip("/")
        self.local = "file" in self._protocols()
        # Absolute: a worker that unpickles this may stand in another folder.
        self.url = self.root if self.local else url

    def __reduce__(self) -> tuple[type[Storage], tuple[str]]:
        return Storage, (self.url,)

    def full(self, path: str) -> str:
        """The path as the filesystem knows it."""
        return f"{self.root}/{path}"

    def exists(self, path: str) -> bool:
        """Whether the file is there."""
        return bool(self.fs.exists(self.full(path)))

    def info(self, path: str) -> FileInfo | None:
        """Size and version of a file, None where there is none."""
        if self.local:
            try:
                stat = os.stat(self.full(path))
            except FileNotFoundError:
                return None
            # With the inode: two replacements within one tick of the clock may have the same size.
            return FileInfo(path, stat.st_size, f"{stat.st_mtime_ns}-{stat.st_ino}")
        self.fs.invalidate_cache()
        try:
            return self._info(self.fs.info(self.full(path)))
        except FileNotFoundError:
            return None

    def modified(self, path: str) -> datetime:
        """When the file was written last, UTC, by the clock of the store. Raises FileNotFoundError."""
        return cast(datetime, self.fs.modified(self.full(path))).astimezone(UTC)

    def list(self, prefix: str, suffix: str = "") -> list[FileInfo]:
        """Every file below a folder whose path ends in `suffix`, by path; a folder that is not there has none."""
        if self.local:
            return sorted(self._walk(prefix, suffix))
        self.fs.invalidate_cache()
        found = self.fs.find(self.full(prefix), detail=True)
        infos = [self._info(entry) for entry in found.values() if entry["type"] == "file"]
        return sorted(info for info in infos if info.path.endswith(suffix))

    def read_bytes(self, path: str) -> bytes:
        """The whole file. Raises FileNotFoundError."""
        return cast(bytes, self.fs.cat_file(self.full(path)))

    def open_input(self, path: str) -> IO[bytes]:
        """A seekable stream of the file."""
        return cast(IO[bytes], self.fs.open(self.full(path), "rb"))

    def create(self, path: str, data: bytes | BinaryIO) -> bool:
        """Writes a file that must not be there yet; False when it is. Of several racing writers one wins.

        `data` is what is to stand there, or a stream of it, which is read from its start. Raises LakeError on a disk
        without hard links, where nothing else can promise that.
        """
        if not self.local:
            try:
                self.fs.pipe_file(self.full(path), _whole(data), mode="create")
            except OSError as error:
                if _is_there(error):
                    return False
                raise
            return True
        temporary = self._write_temporary(path, data)
        try:
            os.link(temporary, self.full(path))
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno in _NO_LINKS:
                raise LakeError(
                    f"the disk of {self.url} has no hard links, without which two runs could overwrite each other: "
                    "choose a folder on another disk, or an S3 address"
                ) from error
            raise
        finally:
            temporary.unlink()
        _sync_folder(temporary.parent)
        return True

    def one_writer_wins(self) -> bool:
        """Whether of two writers of a file the first wins, as `create` promises; tried with a file that goes again."""
        name = f".writers-{uuid.uuid4().hex}"
        try:
            won = self.create(name, b"one"), self.create(name, b"two")
            return won == (True, False) and self.read_bytes(name) == b"one"
        finally:
            self.delete(name)

    def replace(self, path: str, data: bytes | BinaryIO) -> None:
        """Writes a file over whatever is there, in one step: a reader sees the old file or the new one.

        `data` as in `create`.
        """
        if not self.local:
            self.fs.pipe_file(self.full(path), _whole(data))
            return
        temporary = self._write_temporary(path, data)
        os.replace(temporary, self.full(path))
        _sync_folder(temporary.parent)

    def delete(self, path: str) -> None:
        """Removes a file; one that is not there is no error."""
        try:
            self.fs.rm_file(self.full(path))
        except FileNotFoundError:
            return

    def _protocols(self) -> tuple[str, ...]:
        protocol = self.fs.protocol
        return (protocol,) if isinstance(protocol, str) else tuple(protocol)

    def _write_temporary(self, path: str, data: bytes | BinaryIO) -> Path:
        target = Path(self.full(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.parent / f".{uuid.uuid4().hex}{_TEMPORARY}"
        with temporary.open("wb") as stream:
            if isinstance(data, bytes):
                stream.write(data)
            else:
                data.seek(0)
                shutil.copyfileobj(data, stream, _BLOCK)
            stream.flush()
            os.fsync(stream.fileno())
        return temporary

    def _walk(self, prefix: str, suffix: str) -> Sequence[FileInfo]:
        found = []
        for folder, _, names in os.walk(self.full(prefix)):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), self.root)
                if path.endswith(suffix) and not path.endswith(_TEMPORARY) and (info := self.info(path)) is not None:
                    found.append(info)
        return found

    def _info(self, entry: dict[str, Any]) -> FileInfo:
        path = str(entry["name"]).removeprefix(self.root + "/")
        version = entry.get("ETag") or entry.get("LastModified") or entry.get("created") or ""
        return FileInfo(path, int(entry["size"]), str(version))


def _whole(data: bytes | BinaryIO) -> bytes:
    if isinstance(data, bytes):
        return data
    data.seek(0)
    return data.read()


def _is_there(error: OSError) -> bool:
    """Whether a store refused to create a file because it is there: not every S3 says which condition failed."""
    answer = getattr(error.__cause__, "response", {})
    return isinstance(error, FileExistsError) or answer.get("Error", {}).get("Code") == "PreconditionFailed"


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""What a store behind an address does not give: said in words, with the address, without a secret.

Bounded is the time to the first answer about a path; listing and reading go on as long as the store's client has it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fsspec.asyn import sync
from fsspec.exceptions import FSTimeoutError
from fsspec.implementations.local import LocalFileSystem

from models.tracking import without_password

FIRST_ANSWER = 30.0
"""Seconds that a store has for its first answer. Left to themselves, clients ask a silent one for several minutes."""

AHEAD = 16 << 20
"""Bytes of a file that are fetched at once, and held."""

_S3 = re.compile(r"\bs3a?://([^/\s]*)")
_BUCKET = re.compile(r"[A-Za-z0-9._-]+|arn:.*")
_TO_DO_FOR_S3 = (
    "Check AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; FSSPEC_S3_ANON=true asks without a key"
)


class NotReached(Exception):
    """A store did not give what was asked of it; the message names the address, and what would do."""


def without_secrets(text: str) -> str:
    """A message without what the addresses that it quotes may hold of a password or a signature."""
    return re.sub(r"(https?://[^\s?\"']*)\?[^\s\"']*", r"\1", without_password(text))


def address_without_secrets(address: str) -> str:
    """An address, whatever characters it has, without what it may hold of a password or a signature."""
    plain = without_password(address)
    return plain.partition("?")[0] if "http" in plain.partition("://")[0] else plain


def lacks_bucket(address: str) -> bool:
    """Whether an S3 address begins with something else than the name of one bucket: with a glob, or with credentials.

    No S3 client takes those, but each quotes them.
    """
    bucket = _S3.search(address)
    return bucket is not None and not _BUCKET.fullmatch(bucket[1])


def is_remote(fs: Any) -> bool:
    """Whether files are elsewhere than on a disk of this machine."""
    return not isinstance(fs, LocalFileSystem)


@contextmanager
def reached(fs: Any, address: str) -> Iterator[None]:
    """Around calls of a filesystem and nothing else: raises NotReached for what they raise.

    Disks name what is wrong themselves, and are left alone.
    """
    try:
        yield
    except Exception as error:  # what stores raise has no class in common, not even within one of them
        if not is_remote(fs):
            raise
        raise _said(error, address) from error


def info_of(fs: Any, path: str) -> dict[str, Any] | None:
    """What a filesystem says of a path, None where nothing is there. Raises FSTimeoutError after FIRST_ANSWER."""
    try:
        if fs.async_impl:
            return dict(sync(fs.loop, fs._info, path, timeout=FIRST_ANSWER))
        return dict(fs.info(path)) if fs.exists(path) else None
    except FileNotFoundError:
        return None


@contextmanager
def opened(fs: Any, path: str, address: str) -> Iterator[Any]:
    """A stream of a file's bytes, fetched AHEAD of where it is read. Opening and reading raise what `reached` does."""
    if not is_remote(fs):
        with fs.open(path, "rb") as stream:
            yield stream
        return
    with reached(fs, address):
        stream = fs.open(path, "rb", block_size=AHEAD)
    with stream:
        yield _Reading(stream, fs, address)


class _Reading(io.RawIOBase):
    """A stream of a store, whose errors name the address."""

    def __init__(self, stream: Any, fs: Any, address: str) -> None:
        self._stream, self._fs, self._address = stream, fs, address

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._stream.seekable())

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._stream.seek(offset, whence))

    def tell(self) -> int:
        return int(self._stream.tell())

    def readinto(self, target: Any) -> int:
        with reached(self._fs, self._address):
            return int(self._stream.readinto(target))


def _said(error: Exception, address: str) -> NotReached:
    place = address_without_secrets(address)
    if isinstance(error, FileNotFoundError):
        return NotReached(f"{place}: there is no such file or folder")
    if type(error).__name__ == "FileExpired":  # of s3fs, which need not be installed
        return NotReached(f"{place} was written again meanwhile: ingest it again")
    if isinstance(error, FSTimeoutError):
        return NotReached(f"{place} cannot be reached: no answer within {FIRST_ANSWER:.0f} s{_to_do(address)}")
    if isinstance(error, OSError):
        said = " ".join(without_secrets(error.strerror or str(error)).split()) or type(error).__name__
        if isinstance(error, PermissionError):
            return NotReached(f"{place} may not be read: {said}{_to_do(address)}")
        return NotReached(f"{place} cannot be read: {said}")
    said = " ".join(without_secrets(str(error)).split()) or type(error).__name__
    return NotReached(f"{place} cannot be reached: {said}{_to_do(address)}")


def _to_do(address: str) -> str:
    return f". {_TO_DO_FOR_S3}" if _S3.search(address) else ""

"""A lake: its fixed settings, and where everything lies in it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cluster.errors import LakeError, NotALake
from cluster.hints import command
from cluster.storage import Storage

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

FORMAT_VERSION = 1
DEFAULT_TOKENIZER = "o200k_base"
_SETTINGS = "lake.json"
BUCKET_FILE = r"bucket=b(?P<bucket>\d{4,})/(?P<batch>[^/]+)\.parquet"
"""Pattern of where a file lies below the folder of its table and choice."""

_PART = re.compile(r"[A-Za-z0-9._-]+")


class Lake:
    """An open lake. `buckets` and `tokenizer` were fixed when it was made. Picklable."""

    def __init__(self, url: str, buckets: int, tokenizer: str) -> None:
        self.storage = Storage(url)
        self.url = self.storage.url
        self.buckets = buckets
        self.tokenizer = tokenizer

    @classmethod
    def init(cls, url: str, buckets: int = 16, tokenizer: str = DEFAULT_TOKENIZER) -> Lake:
        """Makes a lake; with equal settings a second time it is a no-op.

        Raises LakeError when there is one with other settings, buckets are out of 1..4096, or the place is a store
        where a second writer overwrites what the first one wrote.
        """
        if not 1 <= buckets <= 4096:
            raise LakeError(f"a lake has 1 to 4096 buckets, not {buckets}")
        settings = {"format": FORMAT_VERSION, "buckets": buckets, "tokenizer": tokenizer}
        data = (json.dumps(settings, indent=2) + "\n").encode()
        storage = Storage(url)
        if not storage.exists(_SETTINGS):
            if not storage.local and not storage.one_writer_wins():
                raise LakeError(
                    f"{url}: of two writers of a file the second one overwrites it there, so that two runs could "
                    "corrupt the lake. Keep it on a disk, or in an S3 that heeds If-None-Match"
                )
            storage.create(_SETTINGS, data)
        lake = cls.open(url)
        if (lake.buckets, lake.tokenizer) != (buckets, tokenizer):
            raise LakeError(
                f"{url} is a lake with {lake.buckets} buckets and tokenizer {lake.tokenizer}; both are fixed at "
                "init. Use it as it is, or choose another place."
            )
        return lake

    @classmethod
    def open(cls, url: str) -> Lake:
        """Opens a lake. Raises NotALake when there is none, or its format is not this version's."""
        try:
            settings = json.loads(Storage(url).read_bytes(_SETTINGS))
        except FileNotFoundError as error:
            raise NotALake(f"{url} is no lake (no {_SETTINGS}): make one with `{command('init', url)}`") from error
        except ValueError as error:
            raise NotALake(f"{url}/{_SETTINGS} is damaged ({error}): restore it from a copy") from error
        if settings.get("format") != FORMAT_VERSION:
            raise NotALake(f"{url} has lake format {settings.get('format')}; this slatemill reads {FORMAT_VERSION}")
        return cls(url, int(settings["buckets"]), str(settings["tokenizer"]))

    def __reduce__(self) -> tuple[type[Lake], tuple[str, int, str]]:
        return Lake, (self.url, self.buckets, self.tokenizer)

    def bucket_of(self, history_ids: Sequence[str]) -> npt.NDArray[np.int64]:
        """The bucket of each history, for ever: 8 bytes of blake2b of its id, modulo the number of buckets."""
        hashes = (hashlib.blake2b(name.encode(), digest_size=8).digest() for name in history_ids)
        return np.fromiter(
            (int.from_bytes(value, "big") % self.buckets for value in hashes), np.int64, len(history_ids)
        )

    def path(self, table: str, bucket: int, batch: str, choice: tuple[str, str] | None = None) -> str:
        """Where the file of one (table, choice, bucket, batch) lies.

        Raises LakeError for a bucket that the lake lacks and for a name that cannot be part of a path.
        """
        if not 0 <= bucket < self.buckets:
            raise LakeError(f"{self.url} has buckets 0 to {self.buckets - 1}, not {bucket}")
        _require_part(batch)
        return f"{self.folder(table, choice)}/{bucket_folder(bucket)}/{batch}.parquet"

    def folder(self, table: str, choice: tuple[str, str] | None = None) -> str:
        """Where the files of one (table, choice) lie. Raises LakeError for a name that cannot be part of a path."""
        for part in (table, *(choice or ())):
            _require_part(part)
        return table if choice is None else f"{table}/{choice[0]}={choice[1]}"

    def quarantine_path(self, stage: str, bucket: int, batch: str, choice: tuple[str, str] | None = None) -> str:
        """Where a stage puts what it could not process of one (bucket, batch)."""
        return "quarantine/" + self.path(stage, bucket, batch, choice)

    def choices(self, table: str) -> list[tuple[str, str]]:
        """The choices of a table that have files."""
        parts = {info.path.split("/")[1] for info in self.storage.list(table, ".parquet")}
        pairs = (part.split("=", 1) for part in sorted(parts) if not part.startswith("bucket="))
        return [(name, value) for name, value in pairs]

    def scan(
        self,
        table: str,
        *,
        histories: Sequence[str] | None = None,
        schema: pa.Schema | None = None,
        **choice: str,
    ) -> pl.LazyFrame:
        """The rows of every committed batch of a table, as a lazy frame: `lake.scan("slates", profile="lexical")`.

        A table that depends on a choice is named with it (`profile=`, `model=`, `analyzer=`). With `histories`, only
        the rows of those, and only files that may hold them are opened. With `schema` (pipeline.schemas has every
        table's) an empty table is an empty frame, and the files must have it.

        Raises LakeError where there is nothing to read and no `schema`, or two choices are given; SchemaMismatch.
        """
        from cluster.scan import scan  # noqa: PLC0415 - it needs this module

        if len(choice) > 1:
            raise LakeError(f"a table depends on one choice, not on {', '.join(choice)}")
        return scan(self, table, next(iter(choice.items()), None), histories, schema)


def bucket_folder(bucket: int) -> str:
    """The folder of a bucket below that of a table and choice."""
    return f"bucket=b{bucket:04d}"


def _require_part(part: str) -> None:
    if not _PART.fullmatch(part) or not part.strip("."):
        raise LakeError(f"{part!r} cannot be part of a path: letters, digits, dot, dash and underscore only")

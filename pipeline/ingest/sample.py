"""The first records of a document, by which its format is told."""

from __future__ import annotations

import io
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from pipeline.ingest.errors import IngestError
from pipeline.ingest.json_items import json_items
from pipeline.ingest.json_values import PEEK, JsonReader, beginning, lines_of, not_blank, read_whole, too_long
from pipeline.ingest.source import Refused

RECORDS = 3
PARQUET_MAGIC = b"PAR1"
_BINARY = (b"%PDF-", b"\x89PNG")
_LISTED = "`slatemill formats` lists what can be ingested"

_BEGINNINGS = {
    b"\x1f\x8b": "it is compressed with gzip: unpack it, or let its name end with .gz",
    b"\x28\xb5\x2f\xfd": "it is compressed with zstd: unpack it, or let its name end with .zst",
    b"BZh": "it is compressed with bzip2: unpack it, or let its name end with .bz2",
    b"PK\x03\x04": "it is a zip archive: unpack it",
    b"\xfd7zXZ\x00": "it is compressed with xz: unpack it, or compress it with zstd or gzip",
    b"\xff\xfe": "it is UTF-16: bring it into UTF-8",
    b"\xfe\xff": "it is UTF-16: bring it into UTF-8",
}
"""What is said of a file that begins so, instead of that it is nothing known."""

Shape = Literal["array", "object", "lines", "parquet"]


@dataclass(frozen=True)
class Sample:
    """What a document is like: a JSON `array` of records, one JSON `object`, JSON `lines`, or `parquet`.

    `records` are the first few of an array or of lines, or the one object; of Parquet there are none.
    """

    shape: Shape
    records: tuple[Any, ...]

    @property
    def first(self) -> Any:
        """The first record; None where there is none."""
        return self.records[0] if self.records else None

    def all_have(self, *keys: str) -> bool:
        """Whether there are records, and all are objects with these keys."""
        return bool(self.records) and all(
            isinstance(record, dict) and all(key in record for key in keys) for record in self.records
        )


def sample(stream: io.BufferedReader) -> Sample:
    """Looks at the beginning of a stream, which is used up by it. Raises IngestError for what is no JSON."""
    start = stream.peek(PEEK)
    if start.startswith(PARQUET_MAGIC):
        return Sample("parquet", ())
    text = beginning(stream)
    if text.startswith(b"["):
        return Sample("array", tuple(islice(json_items(stream), RECORDS)))
    if not text.startswith(b"{"):
        raise IngestError(_no_json(start, text))
    lines = (line for _, line in not_blank(lines_of(stream)))
    first = next(lines)
    if first is None:
        raise IngestError(too_long())
    value = _value(first)
    if not isinstance(value, dict):
        try:
            return Sample("object", json_object(read_whole(stream, first))[:1])
        except IngestError as error:
            raise IngestError(
                f"{error}. If it is JSON lines, name their format, and only what is broken is lost"
            ) from error
    # One object on one line may be either. A bad line after the first is for the reader to put aside.
    others = [_value(line) for line in islice(lines, RECORDS - 1)]
    objects = [other for other in others if isinstance(other, dict)]
    return Sample("lines" if others else "object", (value, *objects))


def _no_json(start: bytes, text: bytes) -> str:
    if not text and len(start) < PEEK:
        return "it is empty"
    known = (what for beginning, what in _BEGINNINGS.items() if start.startswith(beginning))
    if b"\0" in start or start.startswith(_BINARY):
        return next(known, f"it is no text but binary, and no Parquet: {_LISTED}")
    return next(known, f"it is neither JSON, nor JSON lines, nor Parquet: {_LISTED}")


def json_object(data: bytes) -> tuple[dict[str, Any], tuple[Refused, ...]]:
    """A document that is one JSON object, and what is lost within it. Raises IngestError."""
    try:
        value, lost = JsonReader().whole(data, "the document")
    except (ValueError, RecursionError) as error:
        raise IngestError(f"it begins as a JSON object and is none: {type(error).__name__}") from error
    if not isinstance(value, dict):
        raise IngestError("it is no JSON object")
    return value, lost


def _value(line: bytes | None) -> Any:
    """The JSON value of a line, None where it is none."""
    try:
        return None if line is None else JsonReader().whole(line, "")[0]
    except (ValueError, RecursionError):
        return None

"""The first records of a document, by which its format is told."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from pipeline.ingest.errors import IngestError
from pipeline.ingest.json_items import json_items

RECORDS = 3
PARQUET_MAGIC = b"PAR1"
_PEEK = 1 << 12
_BINARY = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\x1f\x8b")
_LISTED = "`slatemill formats` lists what can be ingested"

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
    start = stream.peek(_PEEK)
    if start.startswith(PARQUET_MAGIC):
        return Sample("parquet", ())
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"["):
        return Sample("array", tuple(islice(json_items(stream), RECORDS)))
    if not text.startswith(b"{"):
        raise IngestError(_no_json(start, text))
    read: list[bytes] = []
    lines = tuple(islice(_lines(stream, read), RECORDS + 1))
    if isinstance(lines[0], dict):
        # One object on one line may be either. A bad line after the first is for the reader to put aside.
        objects = tuple(line for line in lines[:RECORDS] if isinstance(line, dict))
        return Sample("lines" if len(lines) > 1 else "object", objects)
    return Sample("object", (json_object(b"".join([*read, stream.read()])),))


def _no_json(start: bytes, text: bytes) -> str:
    if not text and len(start) < _PEEK:
        return "it is empty"
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "it is UTF-16 text: save it as UTF-8"
    if start.startswith(_BINARY) or b"\0" in start:
        return f"it is no text but binary (a PDF, an archive, a picture ...), and no Parquet: {_LISTED}"
    return f"it is neither JSON, nor JSON lines, nor Parquet: {_LISTED}"


def json_object(data: bytes) -> dict[str, Any]:
    """A document that is one JSON object. Raises IngestError."""
    try:
        value = json.loads(data.decode("utf-8-sig", "surrogateescape"), strict=False)
    except (ValueError, RecursionError) as error:
        raise IngestError(f"it begins as a JSON object and is none: {type(error).__name__}") from error
    if not isinstance(value, dict):
        raise IngestError("it is no JSON object")
    return value


def _lines(stream: io.BufferedReader, read: list[bytes]) -> Iterator[Any]:
    """The JSON value of each line that is not blank, None from the first that is no JSON; `read` takes the bytes."""
    for line in stream:
        read.append(line)
        if line.strip():
            try:
                yield json.loads(line.decode("utf-8-sig", "surrogateescape"), strict=False)
            except (ValueError, RecursionError):
                yield None
                return

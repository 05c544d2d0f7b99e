"""JSON as every format reads it: in bounded memory, and without losing a value for which a key stands twice.

Of what is too long to be one record no more is held than that much. Bytes that are not UTF-8 become lone surrogates,
which sanitising counts; a line break inside a string is no reason to lose a file.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator
from typing import Any

from pipeline.ingest.codes import Code
from pipeline.ingest.errors import IngestError
from pipeline.ingest.quoting import shown
from pipeline.ingest.source import Refused

MOST_BYTES = 1 << 29
"""Of one record, and of a document that is one."""

PEEK = 1 << 12
"""Bytes by which it is told what a stream holds."""


class JsonReader:
    """Parses values. Where a key stands in an object again with another value, the last one counts, as everywhere; what
    is lost so comes with the value."""

    def __init__(self) -> None:
        self._doubled: list[str] = []
        self._decoder = json.JSONDecoder(strict=False, object_pairs_hook=self._object)

    def at(self, text: str, start: int, place: str) -> tuple[Any, int, tuple[Refused, ...]]:
        """The value that begins at `start`, where it ends, and what is lost. Raises ValueError and RecursionError."""
        self._doubled.clear()
        value, end = self._decoder.raw_decode(text, start)
        if not self._doubled:
            return value, end, ()
        named = ", ".join(repr(shown(key)) for key in dict.fromkeys(self._doubled[:3]))
        reason = f"{named} stands more than once in an object: the last value counts"
        return value, end, (Refused(Code.WRONG_SHAPE, place, reason, len(self._doubled)),)

    def whole(self, data: bytes, place: str) -> tuple[Any, tuple[Refused, ...]]:
        """The one value that the bytes hold, and what is lost. Raises ValueError and RecursionError."""
        text = data.decode("utf-8-sig", "surrogateescape").strip(" \t\r\n")
        value, end, lost = self.at(text, 0, place)
        if end < len(text):
            raise json.JSONDecodeError("Extra data", text, end)
        return value, lost

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            self._doubled += [key for key, told in pairs if told is not value[key] and told != value[key]]
        return value


def too_long() -> str:
    """What is said of a record that is."""
    return f"it is longer than {MOST_BYTES >> 20} MB, and cannot be one record"


def broken(error: json.JSONDecodeError) -> str:
    """What is wrong with a text that is no JSON, in words that are whole without a place behind them."""
    return "a string in it does not end" if error.msg.startswith("Unterminated string") else error.msg


def beginning(stream: io.BufferedReader) -> bytes:
    """What a stream begins with behind a byte order mark and blanks; the stream stays where it is."""
    return stream.peek(PEEK).removeprefix(codecs.BOM_UTF8).lstrip()


def read_whole(stream: io.BufferedReader, begun: bytes = b"") -> bytes:
    """What is left of a stream, behind what was read of it. Raises IngestError where that is too long."""
    data = begun + stream.read(max(0, MOST_BYTES + 1 - len(begun)))
    if len(data) > MOST_BYTES:
        raise IngestError(too_long())
    return data


def lines_of(stream: io.BufferedReader, begun: bytes = b"", number: int = 1) -> Iterator[tuple[int, bytes | None]]:
    """The lines of what was read of a stream and of what is left of it, from `number` on; None for one that is too
    long, of which nothing is held."""
    held = io.BytesIO(begun)
    while True:
        line = held.readline()
        if not line.endswith(b"\n"):
            line += stream.readline(max(0, MOST_BYTES + 1 - len(line)))
        if not line:
            return
        if len(line) <= MOST_BYTES:
            yield number, line
        else:
            while line and not line.endswith(b"\n"):
                line = stream.readline(io.DEFAULT_BUFFER_SIZE)
            yield number, None
        number += 1


def not_blank(lines: Iterator[tuple[int, bytes | None]]) -> Iterator[tuple[int, bytes | None]]:
    """Those of some numbered lines that hold anything."""
    return (line for line in lines if line[1] is None or line[1].strip())

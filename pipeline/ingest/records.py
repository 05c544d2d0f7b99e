"""The records of a JSON document one at a time: the items of an array, JSON lines, or one object."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.ingest import json_values
from pipeline.ingest.codes import Code
from pipeline.ingest.json_items import json_items
from pipeline.ingest.json_values import JsonReader, beginning, broken, lines_of, not_blank, too_long
from pipeline.ingest.options import Options
from pipeline.ingest.source import Document, Refused

_OPEN_ENDS = (b"{", b"[", b",", b":")
"""How a line ends behind which a pretty-printed object goes on."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record: its `position` (from 0, blank lines not counted), the `number` that its place bears, its JSON value.

    The value is a Refused where a line is no JSON. `lost` is what is lost within one that is read all the same.
    """

    position: int
    number: int
    place: str
    value: Any
    lost: tuple[Refused, ...] = ()


def records(document: Document) -> Iterator[Record]:
    """The records of a document, in memory one at a time. Raises IngestError for an array that is broken.

    Items of an array count from 0, lines from 1.
    """
    stream, reader = document.stream, JsonReader()
    if beginning(stream).startswith(b"["):
        yield from items(document)
        return
    first = list(itertools.islice(not_blank(lines_of(stream)), 2))
    rest = b""
    if len(first) == 2 and _goes_on(*(line for _, line in first)):
        begun = b"".join(line or b"" for _, line in first)
        # One byte more than a record may have: what ends just where reading stopped is not taken for all there is.
        rest = stream.read(max(0, json_values.MOST_BYTES + 1 - len(begun)))
        if len(begun) + len(rest) <= json_values.MOST_BYTES:
            whole, lost = _value(reader, begun + rest, "item 0")
            if not isinstance(whole, Refused):
                yield Record(0, 0, "item 0", whole, lost)
                return
    lines = lines_of(stream, rest, first[-1][0] + 1 if first else 1)
    for position, (number, line) in enumerate(itertools.chain(first, not_blank(lines))):
        place = f"line {number}"
        yield Record(position, number, place, *_value(reader, line, place))


def items(document: Document) -> Iterator[Record]:
    """The items of a document that is an array. Raises IngestError for one that is none, or is broken."""
    lost: list[Refused] = []
    for position, value in enumerate(json_items(document.stream, lost)):
        yield Record(position, position, f"item {position}", value, tuple(lost))
        lost.clear()


def wanted(document: Document, record: Record, ids: Iterable[str], options: Options) -> bool:
    """Whether a record, which bears `ids`, is wanted. What is lost within one that is, is lost of the document."""
    if not options.items.wants(record.position, ids):
        return False
    document.lost.extend(record.lost)
    return True


def look_ahead(document: Document, *kinds: type) -> tuple[Any, Iterator[Record]]:
    """The first value of a document that is of one of the kinds, None where there is none; and all its records.

    Raises IngestError as `records` does, then or later.
    """
    given = records(document)
    start: list[Record] = []
    found = None
    for record in given:
        start.append(record)
        if isinstance(record.value, kinds):
            found = record.value
            break
    return found, itertools.chain(start, given)


def file_name(document: Document, record: Record) -> str:
    """What a record is called that bears no name: after its file and, but for the first, its number."""
    return document.stem if record.position == 0 else f"{document.stem}:{record.number}"


def _goes_on(line: bytes | None, following: bytes | None) -> bool:
    """Whether a first line begins an object of several lines, rather than being a broken line of its own."""
    if line is None or following is None:
        return False
    probe = JsonReader()
    if not isinstance(_value(probe, line, "")[0], Refused):
        return False
    return line.rstrip().endswith(_OPEN_ENDS) or isinstance(_value(probe, following, "")[0], Refused)


def _value(reader: JsonReader, data: bytes | None, place: str) -> tuple[Any, tuple[Refused, ...]]:
    """The value of a line, or a Refused, and what is lost within it."""
    if data is None:
        return Refused(Code.NOT_JSON, place, too_long()), ()
    try:
        return reader.whole(data, place)
    except json.JSONDecodeError as error:
        return Refused(Code.NOT_JSON, place, f"the line is not JSON: {broken(error)}"), ()
    except (ValueError, RecursionError) as error:
        return Refused(Code.NOT_JSON, place, f"the line is not JSON that can be read: {type(error).__name__}"), ()

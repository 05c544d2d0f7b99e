"""Records of arrays, lines and single objects, in bounded memory and with places that a person finds again."""

from __future__ import annotations

import io
import json

import pytest

from pipeline.ingest import json_values
from pipeline.ingest.errors import IngestError
from pipeline.ingest.records import records
from pipeline.ingest.source import Document, Refused

pytestmark = pytest.mark.flash


def document(payload: bytes) -> Document:
    return Document.of(io.BytesIO(payload), "source.json")


def read(payload: bytes) -> list[tuple[str, object]]:
    found = list(records(document(payload)))
    assert [record.position for record in found] == list(range(len(found)))
    assert all(record.place.endswith(f" {record.number}") for record in found)
    return [(record.place, "refused" if isinstance(record.value, Refused) else record.value) for record in found]


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (b"", []),
        (b"\n \n", []),
        (b"[]", []),
        (b'[{"a": 1}, 2]', [("item 0", {"a": 1}), ("item 1", 2)]),
        (b'\xef\xbb\xbf\n [{"a": 1}]', [("item 0", {"a": 1})]),
        (b'{"a": 1}', [("line 1", {"a": 1})]),
        (b'\xef\xbb\xbf{"a": 1}\n\n{"a": 2}\n', [("line 1", {"a": 1}), ("line 3", {"a": 2})]),
        (b'{"a": 1}\n{"a": \n{"a": 3}', [("line 1", {"a": 1}), ("line 2", "refused"), ("line 3", {"a": 3})]),
        (b'{"a": 1\n{"a": 2}\n{"a": 3}', [("line 1", "refused"), ("line 2", {"a": 2}), ("line 3", {"a": 3})]),
        (b'\n{"a": {\n{"a": 2}', [("line 2", "refused"), ("line 3", {"a": 2})]),
        (b'{"a": [\n{"b": 1}\n]}', [("item 0", {"a": [{"b": 1}]})]),
        (b'{\n  "a": 1\n}', [("item 0", {"a": 1})]),
        (b'{"a":\n1}', [("item 0", {"a": 1})]),
        (b'{"a": "x\x01y"}', [("line 1", {"a": "x\x01y"})]),
        (b'{"a": "\xff"}', [("line 1", {"a": "\udcff"})]),
        (b'{"a": ' + b"1" * 5000 + b"}", [("line 1", "refused")]),
        (b'{"a": 1}\n' + b'{"a":' * 9000 + b"1" + b"}" * 9000, [("line 1", {"a": 1}), ("line 2", "refused")]),
        (b"<html>\n</html>", [("line 1", "refused"), ("line 2", "refused")]),
    ],
)
def test_records_are_found_in_every_shape(payload: bytes, expected: list[tuple[str, object]]) -> None:
    assert read(payload) == expected


def test_an_object_of_several_lines_that_ends_where_reading_stops_hides_nothing_behind_it(monkeypatch) -> None:
    payload = b'{\n"a": 1,\n"b": 2}'
    monkeypatch.setattr(json_values, "MOST_BYTES", len(payload))
    assert read(payload) == [("item 0", {"a": 1, "b": 2})]
    refused = [(f"line {number}", "refused") for number in (1, 2, 3)]
    assert read(payload + b'\n{"a": 3}') == [*refused, ("line 4", {"a": 3})]


def test_lines_are_not_read_ahead() -> None:
    stream = io.BytesIO(b"\n".join(json.dumps({"a": "x" * 1000}).encode() for _ in range(1000)))
    given = Document.of(stream, "source.json")
    next(records(given))
    assert stream.tell() < 20_000


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (b'[{"a": 1}', "a comma or ] must stand"),
        (b'[{"a": ' + b"1" * 5000 + b"}]", "item 0 holds what cannot be read"),
        (b'[{"a": 1}]\n[{"a": 2}]', "behind the end"),
    ],
)
def test_a_broken_array_is_an_error_and_never_half_a_source(payload: bytes, said: str) -> None:
    with pytest.raises(IngestError, match=said):
        read(payload)

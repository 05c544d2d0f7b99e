"""A format is told by the content of a document, whatever its name."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.ingest.detect import detect
from pipeline.ingest.errors import IngestError
from pipeline.ingest.sample import sample
from pipeline.ingest.source import Document

pytestmark = pytest.mark.flash


def document(payload: bytes) -> Document:
    return Document.of(io.BytesIO(payload), "some.thing")


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"history_id": ["h"]}), sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ([{"question": "?", "question_id": "q", "haystack_sessions": [[]]}], "longmemeval"),
        ([{"sample_id": "conv-1", "conversation": {"session_1": []}, "qa": []}], "locomo"),
        ({"history_id": "h", "sessions": []}, "native"),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b"\n  "])
def test_each_format_is_recognised_whether_pretty_printed_or_not(
    value: Any, name: str, indent: int | None, start: bytes
) -> None:
    assert detect(document(start + json.dumps(value, indent=indent).encode())) == name


def test_parquet_is_native() -> None:
    assert detect(document(parquet())) == "native"


def test_lines_are_told_from_one_object_and_a_bad_line_after_the_first_does_not_matter() -> None:
    line = json.dumps({"history_id": "h", "requests": []})
    assert sample(document(f"{line}\n\n{line}\n{{broken".encode()).stream).shape == "lines"
    assert sample(document(line.encode()).stream).shape == "object"
    assert sample(document(json.dumps({"a": {"b": 1}}, indent=1).encode()).stream).records == ({"a": {"b": 1}},)


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (b"", "neither JSON"),
        (b"<html>", "neither JSON"),
        (b"\x89PNG", "neither JSON"),
        (b"{ not json", "begins as a JSON object and is none"),
        (b"[1,", "item 1 is not JSON, or cut short"),
        (b'{"foo": 1, "bar": 2}', r"of no known format \(JSON object of bar, foo\)"),
        (b"[]", "of no known format"),
    ],
)
def test_what_is_no_format_is_an_error_that_says_what_was_seen(payload: bytes, said: str) -> None:
    with pytest.raises(IngestError, match=said):
        detect(document(payload))

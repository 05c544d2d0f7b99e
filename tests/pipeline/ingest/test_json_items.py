"""A JSON array is read item by item: what comes out is what json.loads gives, in bounded memory, whatever the reads."""

from __future__ import annotations

import io
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest import json_items as module
from pipeline.ingest import json_values as limits
from pipeline.ingest.errors import IngestError
from pipeline.ingest.json_items import MOST_GROUPS, json_grouped_items, json_items

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


class Dribble(io.BytesIO):
    """A stream that hands out at most a few bytes at a time, as a network may."""

    def __init__(self, payload: bytes, most: int) -> None:
        super().__init__(payload)
        self._most = most

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._most)


def read(payload: bytes) -> list[Any]:
    return list(json_items(io.BytesIO(payload)))


@given(st.lists(json_values, max_size=5), st.integers(1, 9), st.booleans(), st.sampled_from([None, 2]))
def test_items_are_those_of_json_loads_however_the_stream_is_cut(
    values: list[Any], most: int, ascii_only: bool, indent: int | None
) -> None:
    payload = json.dumps(values, ensure_ascii=ascii_only, indent=indent).encode("utf-8")
    assert list(json_items(Dribble(payload, most))) == values


def grouped(value: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], int, Any]]:
    """What json_grouped_items is to give, by way of the value as a whole."""
    if isinstance(value, list):
        return [(path, position, item) for position, item in enumerate(value)]
    if not isinstance(value, dict):
        return [] if value is None else [(path, 0, value)]
    return [entry for key, inner in value.items() for entry in grouped(inner, (*path, key))]


@given(
    st.dictionaries(st.text(), json_values, max_size=4).map(lambda groups: groups | {"none": []})
    | st.lists(json_values, max_size=4),
    st.integers(1, 9),
    st.sampled_from([None, 2]),
)
def test_items_in_groups_are_those_of_json_loads_however_the_stream_is_cut(
    value: Any, most: int, indent: int | None
) -> None:
    payload = json.dumps(value, indent=indent).encode()
    assert list(json_grouped_items(Dribble(payload, most))) == grouped(value)


@pytest.mark.flash
@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b"", "neither a JSON array nor a JSON object"),
        (b"5", "neither a JSON array nor a JSON object"),
        (b"{}", "without an array"),
        (b'{"a": {"b": 1}, "c": null}', "without an array"),
        (b'{"a": [1], "b"}', "item 1: a key and a colon"),
        (b'{"a": [1], 5: []}', "item 1: a key and a colon"),
        (b'{"a": [1] "b": []}', "item 1: a comma or } must"),
        (b'{"a": [1, ', "item 1 is not JSON, or cut short"),
        (b'{"a": ', "item 0 is not JSON, or cut short"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b'{"a":' * (MOST_GROUPS + 1) + b"[1]" + b"}" * (MOST_GROUPS + 1), "nested too deeply"),
    ],
)
def test_what_is_no_group_of_arrays_says_where(payload: bytes, message: str) -> None:
    with pytest.raises(IngestError, match=message):
        list(json_grouped_items(io.BytesIO(payload)))


@pytest.mark.flash
def test_lone_surrogates_and_bad_bytes_come_through_for_sanitising_to_count() -> None:
    assert read(b'["a\\ud800b", "\\ud83d\\ude00", "x\xffy"]') == ["a\ud800b", "😀", "x\udcffy"]


@pytest.mark.flash
def test_a_byte_order_mark_and_raw_line_breaks_are_no_reason_to_lose_a_file() -> None:
    assert read(b'\xef\xbb\xbf [ "a\nb" ] \n') == ["a\nb"]


@pytest.mark.flash
@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b"", "not a JSON array"),
        (b'{"a": 1}', "not a JSON array"),
        (b"PAR1", "not a JSON array"),
        (b'[{"a": 1}, {"a": ', "item 1 is not JSON, or cut short"),
        (b'[{"a": 1} {"a": 2}]', "item 1: a comma"),
        (b"[1, 2", "item 2: a comma"),
        (b'[1, {"a": nope, "b": "' + b"x" * 100 + b'"}]', "item 1 is not JSON"),
        (b'["never closed', "item 0 is not JSON, or cut short"),
        (b"[1,]", "item 1 is not JSON"),
        (b"[" * 200_000, "nested too deeply"),
    ],
)
def test_what_is_no_json_array_names_the_item(payload: bytes, message: str) -> None:
    with pytest.raises(IngestError, match=message):
        read(payload)


def test_memory_is_bounded_by_an_item_not_by_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READ_BYTES", 1 << 12)
    item = json.dumps({"text": "x" * 10_000}).encode()
    payload = b"[" + b",".join([item] * 1_000) + b"]"
    stream = io.BytesIO(payload)
    tracemalloc.start()
    try:
        count = sum(1 for _ in json_items(stream))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 1_000
    assert peak < 500_000 < len(payload)


def test_memory_is_bounded_by_an_item_in_groups_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READ_BYTES", 1 << 12)
    array = b"[" + b",".join([json.dumps({"text": "x" * 10_000}).encode()] * 500) + b"]"
    payload = b'{"a": {"b": ' + array + b'}, "c": ' + array + b"}"
    tracemalloc.start()
    try:
        count = sum(1 for _ in json_grouped_items(io.BytesIO(payload)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 1_000
    assert peak < 500_000 < len(payload)


def test_no_more_is_read_of_an_item_than_it_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READ_BYTES", 1 << 12)
    monkeypatch.setattr(limits, "MOST_BYTES", 3 << 12)
    stream = io.BytesIO(b'["' + b"x" * 100_000 + b'"]')
    with pytest.raises(IngestError, match="item 0: it is longer than"):
        list(json_items(stream))
    assert (3 << 12) < stream.tell() <= (3 << 12) + 2


def test_malformed_json_is_refused_without_reading_the_whole_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READ_BYTES", 1 << 12)
    stream = io.BytesIO(b'[{"a": nope, "b": 1},' + b" 1," * 1_000_000)
    with pytest.raises(IngestError):
        list(json_items(stream))
    assert stream.tell() <= 1 << 13

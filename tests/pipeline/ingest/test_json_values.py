"""Whatever a file unpacks to, memory holds one record of it; and a key that stands twice loses no value silently."""

from __future__ import annotations

import contextlib
import io
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest import json_items, json_values
from pipeline.ingest.detect import detect
from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import FORMATS, arrivals
from pipeline.ingest.json_values import JsonReader, lines_of, read_whole
from pipeline.ingest.options import Items, Options
from pipeline.ingest.source import Document

MEGABYTE = 1 << 20
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
TWICE: dict[str, tuple[str, str, list[str]]] = {
    "native": (
        '{"history_id": "a", "sessions": [{"turns": [{"role": "user", "text": "gone"}]}], "sessions": '
        '[{"turns": [{"role": "user", "text": "kept"}]}]}\n{"history_id": "b", "sessions": []}',
        "line 1",
        ["kept"],
    ),
    "locomo": (
        '[{"conversation": {}}, {"conversation": {"session_1": [{"text": "gone"}], "session_1": [{"text": "kept"}]}}]',
        "item 1",
        ["kept"],
    ),
    "longmemeval": (
        '[{"question_id": "q", "question": "?", "haystack_sessions": [[{"role": "user", "content": "gone", '
        '"content": "kept"}]]}]',
        "item 0",
        ["kept"],
    ),
    "memsim": (
        '{"simple": {"roles": [{"tid": 1, "message_list": [{"message": "gone", "message": "kept"}]}]}}',
        "simple, roles, item 0",
        ["kept"],
    ),
    "evermemos": (
        '{"session_meta": {}, "conversation_list": [{"content": "gone", "content": "kept"}]}',
        "the document",
        ["kept"],
    ),
    "realtalk": (
        '{"session_1": [{"clean_text": "gone", "clean_text": "kept"}]}',
        "the document",
        ["kept"],
    ),
    "chatgpt": (
        '[{"mapping": {"n": {"parent": null, "message": {"author": {"role": "user"}, '
        '"content": {"parts": ["gone"], "parts": ["kept"]}}}}}]',
        "item 0",
        ["kept"],
    ),
    "letta": (
        '{"agents": [{"id": "a", "messages": [{"role": "user", "content": "gone", "content": "kept"}]}]}',
        "line 1",
        ["kept"],
    ),
    "openai-chat": (
        '{"messages": []}\n{"messages": [{"role": "user", "content": "gone", "content": "kept"}]}',
        "line 2",
        ["kept"],
    ),
    "sharegpt": (
        '[{"conversations": []}, {"conversations": [{"from": "human", "value": "gone", "value": "kept"}]}]',
        "item 1",
        ["kept"],
    ),
    "mini-swe-agent": (
        '[{"role": "user", "content": "gone", "content": "kept"}]',
        "item 0",
        ["kept"],
    ),
    "openhands": (
        '[{"action": "message", "source": "user", "args": {"content": "gone"}, "args": {"content": "kept"}}]',
        "item 0",
        ["kept"],
    ),
    "swe-agent": (
        '{"trajectory": [{"action": "gone", "action": "kept"}]}',
        "line 1",
        ["$ kept"],
    ),
}


def read(
    payload: str, source_format: str = "native", **options: str
) -> tuple[list[str], list[tuple[str, str, str, int]]]:
    document = Document.of(io.BytesIO(payload.encode()), "source.json")
    (arrival,) = arrivals(source_format, [document], options)
    refused = [(row["code"], row["place"], row["reason"], row["weight"]) for row in arrival.quarantine.to_pylist()]
    return arrival.turns["text"].to_pylist(), refused


@pytest.mark.flash
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_what_a_key_that_stands_twice_loses_is_quarantined_and_the_last_value_is_read(name: str) -> None:
    payload, place, kept = TWICE[name]
    texts, refused = read(payload, name)
    assert texts == kept
    (told,) = [row for row in refused if "stands more than once in an object: the last value counts" in row[2]]
    assert (told[0], told[1], told[3]) == ("wrong_shape", place, 1)


@pytest.mark.flash
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_nothing_is_lost_within_what_is_not_asked_for(name: str) -> None:
    def lost(items: Items) -> int:
        document = Document.of(io.BytesIO(TWICE[name][0].encode()), "source.json")
        list(FORMATS[name].read(document, Options(items=items)))
        return len(document.lost)

    assert (lost(Items()), lost(Items("999"))) == (1, 0)


@pytest.mark.flash
@pytest.mark.parametrize(("items", "places"), [("0", [1]), ("1", []), ("2", [3]), ("0-2", [1, 3])])
def test_each_item_asked_for_is_told_with_what_is_lost_within_it_and_no_other(items: str, places: list[int]) -> None:
    doubled = '{"history_id": "h", "sessions": [], "sessions": [], "requests": 1, "requests": []}'
    payload = f'{doubled}\n{{"history_id": "h", "sessions": []}}\n{doubled}'
    assert [row[1] for row in read(payload, items=items)[1]] == [f"line {number}" for number in places]


@pytest.mark.flash
def test_what_is_lost_within_a_record_of_no_history_is_told_too() -> None:
    assert [row[1] for row in read('{"agents": [], "tools": 1, "tools": 2}', "letta")[1]] == ["line 1"]


@pytest.mark.flash
def test_of_a_line_that_is_refused_as_a_whole_nothing_else_is_told() -> None:
    doubled = '{"history_id": "a", "sessions": 1, "sessions": []}'
    good = '{"history_id": "b", "sessions": []}'
    assert [row[:2] for row in read(f"{doubled} and more\n{good}")[1]] == [("not_json", "line 1")]


@pytest.mark.flash
def test_an_item_that_ends_where_reading_stopped_is_told_once_of_what_it_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    item = '{"history_id": "a", "sessions": 1, "sessions": []}'
    monkeypatch.setattr(json_items, "READ_BYTES", 1 + len(item))
    assert len(read(f"[{item}]")[1]) == 1


@pytest.mark.flash
def test_a_key_that_stands_twice_with_the_same_value_loses_nothing() -> None:
    turn = '{"role": "user", "role": "user", "text": "x", "text": "x"}'
    assert read(f'{{"history_id": "a", "sessions": [{{"turns": [{turn}]}}]}}') == (["x"], [])


@pytest.mark.flash
def test_a_long_key_is_quoted_by_its_beginning_and_each_lost_value_counts() -> None:
    values = ", ".join(f'"{"k" * 5_000_000}": {number}' for number in range(3))
    value, lost = JsonReader().whole(f"{{{values}}}".encode(), "line 1")
    assert list(value.values()) == [2]
    assert [(one.weight, len(one.reason) < 200) for one in lost] == [(2, True)]


@pytest.mark.flash
@given(PLAIN)
def test_a_value_is_read_as_json_reads_it(value: Any) -> None:
    assert JsonReader().whole(f" {json.dumps(value)}\r\n".encode(), "x") == (value, ())


@pytest.mark.flash
@given(st.binary(max_size=30), st.integers(0, 30), st.integers(1, 12))
def test_lines_are_those_of_the_stream_and_one_that_is_too_long_is_none(data: bytes, begun: int, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_values, "MOST_BYTES", most)
        stream = io.BufferedReader(io.BytesIO(data[begun:]))
        found = list(lines_of(stream, data[:begun], number=7))
    whole = io.BytesIO(data).readlines()
    assert found == [(7 + at, line if len(line) <= most else None) for at, line in enumerate(whole)]


@pytest.mark.flash
def test_a_stream_that_is_too_long_is_refused_and_one_that_just_fits_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_values, "MOST_BYTES", 5)
    assert read_whole(io.BufferedReader(io.BytesIO(b"345")), b"12") == b"12345"
    with pytest.raises(IngestError, match="cannot be one record"):
        read_whole(io.BufferedReader(io.BytesIO(b"3456")), b"12")


class Endless(io.RawIOBase):
    """What a small compressed file may unpack to: a beginning, then one piece again and again."""

    def __init__(self, beginning: bytes, piece: bytes, size: int) -> None:
        self._ahead, self._piece, self._left = beginning, piece * (MEGABYTE // len(piece)), size

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        if not self._ahead and self._left > 0:
            self._ahead, self._left = self._piece, self._left - len(self._piece)
        data = self._ahead[: len(target)]
        self._ahead = self._ahead[len(data) :]
        target[: len(data)] = data
        return len(data)


BOMBS = {
    "zeros": (b"", b"\0"),
    "blanks": (b"", b" "),
    "lines without a record": (b"{}\n", b" " * 1023 + b"\n"),
    "a line": (b'{"history_id": "', b"x"),
    "an object of several lines": (b'{\n"history_id": 1,\n', b' "' + b"a" * 10_000 + b'": 1,'),
    "an item": (b'[{"a": "', b"x"),
    "blanks in an array": (b"[", b" "),
    "brackets": (b"[", b"["),
    "a number": (b"[0.", b"1"),
    "groups": (b'{"a": {"b": ["', b"x"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_file_that_unpacks_to_hundreds_of_megabytes_costs_memory_for_one_record(
    bomb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_values, "MOST_BYTES", 2 * MEGABYTE)

    def unpacked() -> Document:
        return Document.of(Endless(*BOMBS[bomb], 60 * MEGABYTE), "source.json")

    def outcomes() -> Iterator[int]:
        for name in ("auto", "native", "locomo", "memsim", "evermemos"):  # each reads otherwise
            tracemalloc.reset_peak()
            with contextlib.suppress(IngestError):
                detect(unpacked()) if name == "auto" else list(arrivals(name, [unpacked()], {}))
            yield tracemalloc.get_traced_memory()[1]

    tracemalloc.start()
    try:
        assert max(outcomes()) < 25 * MEGABYTE
    finally:
        tracemalloc.stop()


@pytest.mark.flash
def test_a_line_that_is_too_long_costs_itself_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_values, "MOST_BYTES", MEGABYTE)
    lines = [{"history_id": name, "sessions": [{"turns": [{"role": "user", "text": name}]}]} for name in "abc"]
    lines[1]["sessions"][0]["turns"][0]["text"] = "x" * MEGABYTE  # type: ignore[index]
    document = Document.of(io.BytesIO("\n".join(map(json.dumps, lines)).encode()), "source.jsonl")
    (arrival,) = arrivals("native", [document], {})
    assert arrival.turns["text"].to_pylist() == ["a", "c"]
    (lost,) = arrival.quarantine.to_pylist()
    assert (lost["code"], lost["place"], lost["weight"]) == ("not_json", "line 2", 1)
    assert "longer than 1 MB" in lost["reason"]

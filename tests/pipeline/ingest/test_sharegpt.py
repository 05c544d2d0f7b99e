"""ShareGPT: each item a history, whoever it says is speaking."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from arrived import refused

from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import arrivals
from pipeline.ingest.source import Document

pytestmark = pytest.mark.flash


def read(payload: bytes | Any, **options: Any) -> Any:
    payload = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    (arrival,) = arrivals("sharegpt", [Document.of(io.BytesIO(payload), "sets/chats.json")], options)
    return arrival


def said(*turns: tuple[Any, Any], **more: Any) -> dict[str, Any]:
    return {"conversations": [{"from": who, "value": what} for who, what in turns], **more}


def test_each_item_is_a_history_called_by_its_id_or_by_its_place() -> None:
    items = [
        said(("human", "a"), id="x"),
        said(("human", "b")),
        said(("human", "c"), id=3),
        said(("human", "d"), id=""),
    ]
    arrival = read(items)
    assert arrival.turns["history_id"].to_pylist() == ["x", "sets/chats:1", "3", "sets/chats:3"]
    assert arrival.turns["source_session"].to_pylist() == ["x", "sets/chats:1", "3", "sets/chats:3"]
    assert arrival.requests["request_id"].to_pylist() == ["x#t0", "sets/chats:1#t0", "3#t0", "sets/chats:3#t0"]
    assert arrival.turns["session_time"].null_count == 4
    as_lines = read("\n".join(json.dumps(item) for item in items).encode())
    assert as_lines.turns["history_id"].to_pylist() == ["x", "sets/chats:2", "3", "sets/chats:4"]
    assert read(json.dumps(items[0], indent=1).encode()).turns["history_id"].to_pylist() == ["x"]


def test_who_speaks_has_many_names_and_need_not_alternate() -> None:
    names = ["gpt", "gpt", "human", "user", "system", "assistant", "chatgpt", "bing", "bard", "observation", "tool"]
    arrival = read([said(*[(name, f"<b>{name}</b>") for name in [*names, "Human ", "narrator"]], id="x")])
    assert arrival.turns["role"].to_pylist() == [
        *("assistant", "assistant", "user", "user", "system"),
        *("assistant", "assistant", "assistant", "assistant", "tool", "tool", "user", "narrator"),
    ]
    assert arrival.turns["text"][0].as_py() == "<b>gpt</b>"


def test_calls_are_written_as_elsewhere_and_text_that_holds_none_stays() -> None:
    call = json.dumps({"name": "look", "arguments": {"at": "door"}})
    calls = json.dumps([{"name": "a", "arguments": {}}, {"name": "b", "arguments": "1"}])
    turns = [("function_call", text) for text in (call, calls, "look(door)", '{"no": "name"}', "5")]
    arrival = read([said(*turns, ("human", call))])
    assert arrival.turns["text"].to_pylist() == [
        *('look({"at": "door"})', "a({})\nb(1)", "look(door)", '{"no": "name"}', "5"),
        call,
    ]
    assert arrival.turns["role"].to_pylist() == ["assistant"] * 5 + ["user"]


def test_other_names_for_the_same_keys() -> None:
    by_role = {"conversations": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    by_from = {
        "messages": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}],
        "system": "s",
        "tools": "t",
    }
    for item in (by_role, by_from):
        arrival = read([item])
        assert arrival.turns["role"].to_pylist() == ["user", "assistant"]
        assert arrival.turns["text"].to_pylist() == ["a", "b"]


def test_a_key_for_the_history_makes_the_items_its_sessions() -> None:
    items = [said(("human", "a"), id="1", who={"id": "ada"}, at=1757015046), said(("human", "b"), who={"id": "ada"})]
    arrival = read([*items, said(("human", "c"))], keys={"history": "who.id", "time": "at"})
    assert arrival.turns["history_id"].to_pylist() == ["ada", "ada"]
    assert arrival.turns["source_session"].to_pylist() == ["1", "sets/chats:1"]
    assert arrival.turns["session_time"].to_pylist() == [datetime(2025, 9, 4, 19, 44, 6, tzinfo=UTC), None]
    assert refused(arrival) == [("wrong_shape", "item 2")]


@pytest.mark.parametrize(
    "item",
    [
        5,
        None,
        "x",
        [],
        {},
        {"conversations": None},
        {"conversations": "x"},
        {"id": "x"},
        said(("human", "a"), id=["x"]),
    ],
)
def test_an_item_that_is_none_costs_itself(item: Any) -> None:
    arrival = read([said(("human", "kept")), item, said(("human", "kept"))])
    assert refused(arrival) == [("wrong_shape", "item 1")]
    assert arrival.turns["text"].to_pylist() == ["kept", "kept"]


@pytest.mark.parametrize(
    "turn",
    [
        5,
        None,
        [],
        {},
        {"value": "x"},
        {"from": 5, "value": "x"},
        {"from": " ", "value": "x"},
        {"from": [], "value": "x"},
    ]
    + [{"from": "human", "value": value} for value in (5, True, {"a": 1}, [5])],
)
def test_a_turn_that_is_none_costs_itself(turn: Any) -> None:
    item = said(("human", "a"))
    item["conversations"] += [turn, {"from": "gpt", "value": "b"}]
    arrival = read([item])
    assert refused(arrival) == [("bad_turn", "item 0, turn 1")]
    assert arrival.turns["text"].to_pylist() == ["a", "b"]


def test_blank_values_are_dropped_and_counted_and_an_empty_item_is_an_empty_session() -> None:
    arrival = read([said(("human", None), ("gpt", " "), ("human", ["a", "b"])), said()])
    assert arrival.turns["text"].to_pylist() == ["a\nb"]
    assert (arrival.counts["blank_turns"], arrival.counts["empty_sessions"]) == (2, 1)


@pytest.mark.parametrize(("requests", "asked"), [("last", ["c"]), ("every-step", ["a", "c"]), ("none", [])])
def test_requests(requests: str, asked: list[str]) -> None:
    arrival = read([said(("human", "a"), ("gpt", "b"), ("human", "c"))], requests=requests)
    assert arrival.requests["text"].to_pylist() == asked


def test_items_are_chosen_by_position_and_id() -> None:
    items = [said(("human", "a"), id="x"), said(("human", "b"), id="y"), 5]
    assert read(items, items="x").turns["text"].to_pylist() == ["a"]
    assert read(items, items="1").turns["text"].to_pylist() == ["b"]
    with pytest.raises(IngestError, match="lacks: z"):
        read(items, items="z")

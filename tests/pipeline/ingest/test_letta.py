"""Letta's agent files: agents as histories, days as sessions, what was said and called."""

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

DAY = "2025-10-31T"


def read(value: Any, name: str = "bots/sam.af", **options: Any) -> Any:
    payload = value if isinstance(value, bytes) else json.dumps(value, indent=1).encode()
    (arrival,) = arrivals("letta", [Document.of(io.BytesIO(payload), name)], options)
    return arrival


def message(role: Any, said: Any, at: Any = DAY + "22:56:56.459100+00:00", **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": said, "signature": None}] if isinstance(said, str) else said
    rest = {"tool_calls": None, "tool_returns": [], "name": None}
    return {"type": "message", "role": role, "content": content, "created_at": at, **rest, **more}


def agent(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"id": "agent-0", "name": "sam", "in_context_message_ids": [], "messages": list(messages), **more}


def file(*agents: Any) -> dict[str, Any]:
    return {"agents": list(agents), "blocks": [{"label": "human", "value": "BLOCK"}], "tools": [], "metadata": {}}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def test_a_session_is_a_day_in_utc_and_the_undated_come_last(settle_first: Any) -> None:
    told = [
        message("user", "undated", None),
        message("user", "second day", "2025-11-01T00:30:00Z"),
        message("user", "first day", "2025-10-31T23:59:59"),
        message("user", "first day in Rome", "2025-11-01T00:30:00+01:00"),
    ]
    settled = settle_first([read(file(agent(*told)))])
    assert settled.turns["text"].to_pylist() == ["first day", "first day in Rome", "second day", "undated"]
    assert settled.sources["source_session"].to_pylist() == ["2025-10-31", "2025-10-31", "2025-11-01", "undated"]
    first, second = datetime(2025, 10, 31, tzinfo=UTC), datetime(2025, 11, 1, tzinfo=UTC)
    assert settled.turns["session_time"].to_pylist() == [first, first, second, None]
    assert settled.requests["request_id"].to_pylist() == [
        "2025-10-31#2025-10-31T23:30:00+00:00",
        "2025-11-01#2025-11-01T00:30:00+00:00",
        "undated#t0",
    ]
    assert settled.quarantine.num_rows == 0


def test_a_later_export_that_has_lost_its_beginning_stores_nothing_twice() -> None:
    told = [message("user", f"{n}", f"{DAY}10:00:0{n}Z", id=f"message-{n}") for n in range(5)]
    earlier = read(file(agent(*told[:4])))
    renumbered = [{**one, "id": f"message-{number}"} for number, one in enumerate(told[2:])]
    later = read(file(agent(*renumbered)))
    keys = ["session_key", "turn_key", "content_digest"]
    stored = earlier.turns.select(keys).to_pylist()
    assert [row in stored for row in later.turns.select(keys).to_pylist()] == [True, True, False]


@pytest.mark.parametrize(
    ("own_id", "history_id"),
    [
        ("agent-3f1c9a52-aaaa-4bbb-8ccc-0123456789ab", "agent-3f1c9a52-aaaa-4bbb-8ccc-0123456789ab"),
        ("agent-0", "bots/sam:agent-0"),
        (None, "bots/sam:agent-0"),
        ("", "bots/sam:agent-0"),
        (["x"], "bots/sam:agent-0"),
    ],
)
def test_an_id_that_is_a_number_in_its_file_names_the_agent_with_the_file_only(own_id: Any, history_id: str) -> None:
    arrival = read(file(agent(message("user", "x"), id=own_id)))
    assert arrival.turns["history_id"].to_pylist() == [history_id]


def test_agents_of_a_file_are_histories_of_their_own() -> None:
    arrival = read(file(agent(message("user", "a")), agent(message("user", "b"), id="agent-1", name="tom")))
    assert arrival.turns["history_id"].to_pylist() == ["bots/sam:agent-0", "bots/sam:agent-1"]
    assert arrival.requests.num_rows == 2
    both = file(agent(message("user", "a")), agent(message("user", "b"), name="tom"))
    assert read(both, keys={"history": "name"}).turns["history_id"].to_pylist() == ["sam", "tom"]
    assert read(both, items="tom").turns["text"].to_pylist() == ["b"]
    assert read(both, items="0").turns["text"].to_pylist() == ["a"]
    nameless = read(file(agent(message("user", "a"), name=None), agent(message("user", "b"))), keys={"history": "name"})
    assert refused(nameless) == [("wrong_shape", "item 0, agent 0")]


@pytest.mark.parametrize("key", ["session", "time"])
def test_sessions_and_times_take_no_key(key: str) -> None:
    with pytest.raises(IngestError, match=f"has its {key} from elsewhere"):
        read(file(agent(message("user", "a"))), keys={key: "x"})


def test_an_older_file_is_one_agent_and_wraps_what_was_said() -> None:
    def wrapped(kind: str, **more: Any) -> str:
        return json.dumps({"type": kind, "time": "2025-04-01 10:00:00 AM UTC+0000", **more})

    told = [
        message("system", "persona and BLOCK"),
        message("assistant", "I greet.", tool_calls=[call("send_message", message="Hello!")]),
        message("tool", json.dumps({"status": "OK", "message": "None", "time": "t"}), name="send_message"),
        message("user", wrapped("login", last_login="Never")),
        message("user", wrapped("user_message", message="I am Chad.")),
        message("assistant", "I note it.", tool_calls=[call("core_memory_append", label="human", content="Chad")]),
        message("tool", json.dumps({"status": "OK", "message": "appended", "time": "t"}), name="core_memory_append"),
        message("user", wrapped("heartbeat", reason="continue")),
        message("user", wrapped("system_alert", message="Earlier messages are hidden.")),
        message("user", '{"type": 5}'),
    ]
    flat = {"agent_type": "memgpt_agent", "core_memory": [], "name": "sam", "messages": told, "version": "0.6"}
    arrival = read(flat)
    assert set(arrival.turns["history_id"].to_pylist()) == {"bots/sam"}
    assert [(row["role"], row["speaker"], row["text"]) for row in arrival.turns.to_pylist()] == [
        ("assistant", None, "I greet.\nHello!"),
        ("user", None, "I am Chad."),
        ("assistant", None, 'I note it.\ncore_memory_append({"label": "human", "content": "Chad"})'),
        ("tool", "core_memory_append", "appended"),
        ("system", None, "Earlier messages are hidden."),
        ("user", None, '{"type": 5}'),
    ]
    assert "BLOCK" not in str(arrival.turns.to_pylist())
    every = read(flat, requests="every-step").requests
    assert every["text"].to_pylist() == ["I am Chad.", '{"type": 5}']


def test_calls_returns_thoughts_and_approvals() -> None:
    told = [
        message("user", "look", text="ignored"),
        message("user", None, text="old text"),
        message("assistant", [{"type": "reasoning", "reasoning": "hm"}], tool_calls=[call("look", at="door")]),
        message("tool", None, tool_returns=[{"status": "success", "func_response": "a cat", "stdout": ["s"]}]),
        message("tool", "", tool_returns=[{"func_response": '{"status": "OK", "message": "a hen"}'}]),
        message("tool", [{"type": "tool_return", "tool_call_id": "c", "content": "a dog", "is_error": False}]),
        message("tool", None, tool_returns=[{"tool_return": [{"type": "text", "text": "a cow"}]}, 5, None]),
        message("approval", None, tool_calls=[call("rm", path="/")]),
        message("approval", None, approve=False, denial_reason="too risky"),
        message("approval", None, approve=True),
        message("assistant", [{"type": "tool_call", "id": "c", "name": "ls", "input": {"a": 1}}]),
    ]
    arrival = read(file(agent(*told)))
    assert [(row["role"], row["text"]) for row in arrival.turns.to_pylist()] == [
        ("user", "look"),
        ("user", "old text"),
        ("assistant", 'look({"at": "door"})'),
        ("tool", "a cat"),
        ("tool", "a hen"),
        ("tool", "a dog"),
        ("tool", "a cow"),
        ("assistant", 'rm({"path": "/"})'),
        ("approval", "too risky"),
        ("assistant", 'ls({"a": 1})'),
    ]
    assert arrival.counts["blank_turns"] == 1
    assert refused(arrival) == []


@pytest.mark.parametrize(
    ("told", "code"),
    [
        (5, "bad_turn"),
        (None, "bad_turn"),
        ({}, "bad_turn"),
        (message(5, "x"), "bad_turn"),
        (message("user", 5), "bad_turn"),
        (message("user", [5]), "bad_turn"),
        (message("assistant", "x", tool_calls="x"), "bad_turn"),
        (message("assistant", "x", tool_calls=[5]), "bad_turn"),
        (message("tool", None, tool_returns=[{"func_response": 5}]), "bad_turn"),
        (message("user", "x", "soon"), "bad_time"),
        (message("user", "x", 5), "bad_time"),
        (message("user", "x", [[]]), "bad_time"),
    ],
)
def test_a_message_that_is_none_costs_itself(told: Any, code: str) -> None:
    arrival = read(file(agent(message("user", "a"), told, message("assistant", "b"))))
    assert arrival.turns["text"].to_pylist() == ["a", "b"]
    assert refused(arrival) == [(code, "item 0, agent 0, message 1")]


@pytest.mark.parametrize("broken", [5, None, "x", [], {}, {"messages": None}, {"messages": {}}])
def test_an_agent_that_is_none_costs_itself(broken: Any) -> None:
    arrival = read(file(broken, agent(message("user", "kept"))))
    assert arrival.turns["text"].to_pylist() == ["kept"]
    assert refused(arrival) == [("wrong_shape", "item 0, agent 0")]


@pytest.mark.parametrize("value", [5, {"agents": None}, {"agents": {}}, {"blocks": []}])
def test_a_file_without_agents_is_refused(value: Any) -> None:
    with pytest.raises(IngestError, match=r"nothing in bots/sam\.af is letta"):
        read([value])


def test_files_joined_as_lines_keep_their_agents_apart() -> None:
    joined = "\n".join(json.dumps(file(agent(message("user", text)))) for text in "ab")
    assert read(joined.encode()).turns["history_id"].to_pylist() == ["bots/sam:agent-0", "bots/sam:2:agent-0"]
    assert read(file()).turns.num_rows == 0

"""EverMemOS: days as sessions, people told from machines, and placeholders for what is no text."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import arrivals
from pipeline.ingest.source import Document

pytestmark = pytest.mark.flash

PEOPLE = {
    "user_101": {"full_name": "Alex", "role": "Technical Lead"},
    "robot_001": {"full_name": "Helper", "role": "assistant"},
}


def said(number: int, text: Any = "words", time: Any = "2025-02-01T10:00:00Z", **more: Any) -> dict[str, Any]:
    named = {"message_id": f"msg_{number:04d}", "create_time": time, "sender": "user_101", "sender_name": "Alex"}
    return {**named, "type": "text", "content": text, "refer_list": [], **more}


def chat(*messages: Any, about: str = "session_meta", **meta: Any) -> dict[str, Any]:
    details = {"scene": "group_chat", "default_timezone": "UTC", "user_details": PEOPLE, **meta}
    return {"version": "1.0.0", about: details, "conversation_list": list(messages)}


@pytest.mark.parametrize("about", ["session_meta", "conversation_meta"])
def test_a_file_is_a_history_and_each_day_in_utc_a_session(about: str, settle_first: Any) -> None:
    value = chat(
        said(1, "a", "2025-02-01T10:00:00Z"),
        said(2, "b", "2025-02-02T07:59:00+08:00", refer_list=["msg_0001", {"message_id": "msg_0001", "content": "x"}]),
        said(3, "c", "2025-02-02T08:00:00+08:00", sender="robot_001", sender_name="Helper"),
        about=about,
    )
    document = Document.of(io.BytesIO(json.dumps(value).encode()), "groups/sales.json")
    settled = settle_first(list(arrivals("evermemos", [document], {"requests": "none"})))
    turns = settled.turns.to_pylist()
    assert [(row["history_id"], row["session_index"], row["text"]) for row in turns] == [
        ("groups/sales", 0, "a"),
        ("groups/sales", 0, "b"),
        ("groups/sales", 1, "c"),
    ]
    assert [(row["role"], row["speaker"]) for row in turns] == [
        ("user", "Alex"),
        ("user", "Alex"),
        ("assistant", "Helper"),
    ]
    assert [row["session_time"] for row in turns][1:] == [
        datetime(2025, 2, 1, 10, tzinfo=UTC),
        datetime(2025, 2, 2, tzinfo=UTC),
    ]
    assert settled.sources["source_turn"].to_pylist() == ["msg_0001", "msg_0002", "msg_0003"]
    assert (settled.requests.num_rows, settled.quarantine.num_rows) == (0, 0)


@pytest.mark.parametrize(
    ("message", "details", "role"),
    [
        ({}, {"role": "user"}, "user"),
        ({}, {"role": "Product Manager"}, "user"),
        ({}, {"role": "Agent"}, "assistant"),
        ({}, {"role": "Sales Agent"}, "user"),
        ({}, {"role": "助手"}, "assistant"),
        ({}, {"role": "helper", "extra": {"type": "assistant"}}, "assistant"),
        ({"role": "assistant"}, {"role": "user"}, "assistant"),
        ({"role": "user"}, {"role": "assistant"}, "user"),
        ({"role": 5}, {"role": ["bot"], "extra": "bot"}, "user"),
        ({}, "no details", "user"),
        ({"sender": ["s"]}, {"role": "assistant"}, "user"),
        ({"sender": "stranger"}, {"role": "assistant"}, "user"),
    ],
)
def test_who_is_a_machine_is_what_the_message_or_the_details_of_its_sender_say(
    deliver: Any, message: dict[str, Any], details: Any, role: str
) -> None:
    (arrival,) = deliver("evermemos", chat(said(1, **message), user_details={"user_101": details}))
    assert arrival.turns["role"].to_pylist() == [role]


@pytest.mark.parametrize(
    ("message", "speaker"),
    [
        ({}, "Alex"),
        ({"sender_name": None}, "Alexandra"),
        ({"sender_name": " ", "sender": "user_7"}, "user_7"),
        ({"sender_name": None, "sender": 7}, "7"),
        ({"sender_name": None, "sender": None}, None),
    ],
)
def test_the_speaker_is_the_name_of_the_sender_as_far_as_it_is_known(
    deliver: Any, message: dict[str, Any], speaker: str | None
) -> None:
    people = {"user_101": {"full_name": "Alexandra"}}
    (arrival,) = deliver("evermemos", chat(said(1, **message), user_details=people))
    assert arrival.turns["speaker"].to_pylist() == [speaker]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"type": "image", "content": "whiteboard.png"}, "[image] whiteboard.png"),
        ({"type": "file", "content": "x" * 5_000}, "[file] " + "x" * 200),
        ({"type": "link", "content": "https://a.example"}, "https://a.example"),
        ({"type": "system", "content": "y" * 5_000}, "y" * 5_000),
        ({"type": None}, "words"),
        ({"type": 5, "content": [{"type": "text", "text": "part"}]}, "[5] part"),
        ({"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}, "one\ntwo"),
        ({"type": "image", "content": ""}, None),
        ({"type": "image", "content": None}, None),
        ({"content": " \n"}, None),
    ],
)
def test_what_is_no_text_leaves_a_short_placeholder_or_nothing(
    deliver: Any, message: dict[str, Any], text: str | None
) -> None:
    (arrival,) = deliver("evermemos", chat(said(1, **message)))
    assert arrival.turns["text"].to_pylist() == ([] if text is None else [text])
    assert (arrival.counts.get("blank_turns", 0), arrival.quarantine.num_rows) == (int(text is None), 0)


@pytest.mark.parametrize(
    ("zone", "hour", "notes"),
    [
        (None, 10, 0),
        ("", 10, 0),
        ("UTC", 10, 0),
        ("Asia/Shanghai", 2, 0),
        ("Nowhere/Land", 10, 1),
        ("../../etc/passwd", 10, 1),
        (8, 10, 1),
        ({}, 10, 1),
    ],
)
def test_a_time_that_names_no_zone_is_of_the_chats_zone(deliver: Any, zone: Any, hour: int, notes: int) -> None:
    (arrival,) = deliver("evermemos", chat(said(1, time="2025-02-01T10:00:00"), default_timezone=zone))
    assert arrival.turns["session_time"].to_pylist() == [datetime(2025, 2, 1, hour, tzinfo=UTC)]
    rows = arrival.quarantine.to_pylist()
    assert [(row["code"], row["place"], row["weight"]) for row in rows] == [("bad_time", "default_timezone", 0)] * notes


def test_only_the_message_that_is_broken_is_lost(deliver: Any) -> None:
    broken = [said(2, time="yesterday"), said(3, text=5), "no object", said(5, time=1738404000)]
    value = chat(said(1), *broken, said(6, time=None))
    (arrival,) = deliver("evermemos", value)
    assert arrival.turns["source_turn"].to_pylist() == ["msg_0001", "msg_0006"]
    assert len(set(arrival.turns["session_key"].to_pylist())) == 1
    assert [(row["code"], row["place"]) for row in arrival.quarantine.to_pylist()] == [
        ("bad_time", "turn 1"),
        ("bad_turn", "turn 2"),
        ("bad_turn", "turn 3"),
        ("bad_time", "turn 4"),
    ]


def test_requests_are_made_of_what_people_said_and_see_what_was_said_before(deliver: Any, settle_first: Any) -> None:
    value = chat(
        said(1, "a"),
        said(2, "reply", role="assistant"),
        said(3, "b", "2025-02-02T10:00:00Z"),
        said(4, "c", "2025-02-02T11:00:00Z"),
        said(5, "reply", "2025-02-03T10:00:00Z", role="assistant"),
    )
    every = settle_first(deliver("evermemos", value, requests="every-step")).requests.to_pylist()
    assert [(row["request_id"], row["text"], row["seen_session"], row["seen_turn"]) for row in every] == [
        ("source/2025-02-01#msg_0001", "a", 0, -1),
        ("source/2025-02-02#msg_0003", "b", 1, -1),
        ("source/2025-02-02#msg_0004", "c", 1, 0),
    ]
    assert [row["asked_at"] for row in every] == [
        datetime(2025, 2, day, hour, tzinfo=UTC) for day, hour in ((1, 10), (2, 10), (2, 11))
    ]
    last = settle_first(deliver("evermemos", value)).requests.to_pylist()
    assert [row["request_id"] for row in last] == ["source/2025-02-02#msg_0004"]
    assert deliver("evermemos", value, requests="none")[0].requests.num_rows == 0


@pytest.mark.parametrize("value", [{}, {"conversation_list": {}}, {"session_meta": {}, "conversation_list": None}])
def test_an_object_without_a_list_of_messages_is_no_chat(deliver: Any, value: Any) -> None:
    with pytest.raises(IngestError, match=r"^source\.json: it is no EverMemOS chat"):
        deliver("evermemos", value)


def test_a_grown_chat_keeps_the_keys_of_its_turns(deliver: Any) -> None:
    messages = [said(number, time=f"2025-02-01T{number + 10}:00:00Z") for number in range(4)]
    messages.append(said(9, time="2025-02-02T10:00:00Z"))
    keys = [
        {(row["session_key"], row["turn_key"]) for row in deliver("evermemos", chat(*some))[0].turns.to_pylist()}
        for some in (messages[:2], messages)
    ]
    assert keys[0] < keys[1]

"""Chat messages: whose they are, when they were said, and what of them is text."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from arrived import refused, settled_in_turn

from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import arrivals
from pipeline.ingest.source import Document


def read(payload: bytes, **options: Any) -> Any:
    (arrival,) = arrivals("openai-chat", [Document.of(io.BytesIO(payload), "logs/chats.jsonl")], options)
    return arrival


def lines(*values: Any) -> bytes:
    return "\n".join(value if isinstance(value, str) else json.dumps(value) for value in values).encode()


def user(text: Any = "Hi", **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def bot(text: Any = "Hello", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def chat(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"messages": list(messages) or [user(), bot()], **more}


def told(arrival: Any) -> list[tuple[str, str, str]]:
    return [(row["history_id"], row["source_session"], row["text"]) for row in arrival.turns.to_pylist()]


@pytest.mark.flash
def test_a_file_without_keys_is_one_history_and_its_lines_are_sessions_that_stay_when_it_grows() -> None:
    first = read(lines(chat(), "", chat(user("Again"))))
    assert told(first) == [
        ("logs/chats", "logs/chats:1", "Hi"),
        ("logs/chats", "logs/chats:1", "Hello"),
        ("logs/chats", "logs/chats:3", "Again"),
    ]
    grown = read(lines(chat(), "", chat(user("Again")), chat(user("More"))))
    keys = ["session_key", "turn_key", "content_digest"]
    assert grown.turns.select(keys).slice(0, 3).equals(first.turns.select(keys))
    assert first.turns["session_time"].null_count == 3


@pytest.mark.flash
@pytest.mark.parametrize(
    "payload",
    [
        lines(chat()),
        json.dumps(chat(), indent=2).encode(),
        json.dumps([chat()]).encode(),
        json.dumps([[user(), bot()]]).encode(),
        json.dumps([user(), bot()], indent=1).encode(),
        lines(user(), bot()),
        b"\xef\xbb\xbf" + lines(chat()),
    ],
)
def test_every_carrier_gives_the_same_turns_and_asks_the_last_message(payload: bytes) -> None:
    arrival = read(payload)
    assert arrival.turns["text"].to_pylist() == ["Hi", "Hello"]
    assert arrival.turns["role"].to_pylist() == ["user", "assistant"]
    assert set(arrival.turns["history_id"].to_pylist()) == {"logs/chats"}
    assert [(row["text"], row["seen_before"]) for row in arrival.requests.to_pylist()] == [("Hi", True)]
    assert arrival.quarantine.num_rows == 0


@pytest.mark.flash
def test_usual_keys_are_tried_in_turn() -> None:
    arrival = read(
        lines(
            chat(user("1"), history_id="h", user_id="u", session_id="s", id="i", timestamp=1757015046.5),
            chat(user("2"), user_id=7, conversation_id=" ", thread_id=8, created_at="2025-09-04T21:44:06+02:00"),
            chat(user("3"), history_id=None, user="bo", id="i", timestamp=None, created=1757015046),
            chat(user("4"), user_id="", user="bo", id={"$oid": "x"}, create_time=1757015046123),
        )
    )
    assert told(arrival) == [("h", "s", "1"), ("7", "8", "2"), ("bo", "i", "3"), ("bo", "logs/chats:4", "4")]
    second = datetime(2025, 9, 4, 19, 44, 6, tzinfo=UTC)
    times = arrival.turns["session_time"].to_pylist()
    assert [time.replace(microsecond=0) for time in times] == [second] * 4
    assert [time.microsecond for time in times] == [500_000, 0, 0, 123_000]
    assert arrival.requests["request_id"].to_pylist() == [
        "s@2025-09-04T19:44:06.500000#t0",
        "8@2025-09-04T19:44:06#t0",
        "i@2025-09-04T19:44:06#t0",
        "logs/chats:4#t0",
    ]


@pytest.mark.flash
def test_keys_of_the_user_are_paths_and_replace_the_usual_ones() -> None:
    value = chat(user("x", at="2025-01-02"), user={"id": "ada"}, meta={"chat": 5}, user_id="not me", timestamp=5)
    keys = {"history": "user.id", "session": "meta.chat", "time": "messages.0.at"}
    arrival = read(lines(value), keys=keys)
    assert told(arrival) == [("ada", "5", "x")]
    assert arrival.turns["session_time"].to_pylist() == [datetime(2025, 1, 2, tzinfo=UTC)]
    literal = {**chat(), "user.id": "literal"}
    assert set(read(lines(literal), keys={"history": "user.id"}).turns["history_id"].to_pylist()) == {"literal"}


@pytest.mark.flash
@pytest.mark.parametrize("missing", [{}, {"user": {}}, {"user": {"id": None}}, {"user": {"id": ["x"]}}, {"user": 5}])
def test_a_line_without_the_history_key_that_was_given_gets_into_no_history(missing: dict[str, Any]) -> None:
    arrival = read(lines(chat(user={"id": "ada"}), chat(user("lost"), bot(), **missing)), keys={"history": "user.id"})
    assert refused(arrival) == [("wrong_shape", "line 2")]
    assert arrival.quarantine["weight"].to_pylist() == [2]
    assert "lost" not in str(arrival.turns.to_pylist())


@pytest.mark.flash
@pytest.mark.parametrize("owner", [{"id": "ada"}, ["ada"], True, 1.5, "x" * 5_000_000])
def test_a_usual_history_key_that_holds_no_name_is_not_passed_over(owner: Any) -> None:
    arrival = read(lines(chat(user="bo"), {**chat(), "user": owner}))
    assert refused(arrival) == [("wrong_shape", "line 2")]
    assert "--key history=" in arrival.quarantine["reason"][0].as_py()


@pytest.mark.flash
def test_a_session_key_that_was_given_and_is_missing_costs_the_session() -> None:
    arrival = read(lines(chat(s="a"), chat()), keys={"session": "s"})
    assert refused(arrival) == [("bad_session", "line 2")]


@pytest.mark.flash
@pytest.mark.parametrize(
    "time", ["soon", "soon" * 1_000_000, True, [], {}, [[]], 1e300, 10**400, -(10**15), float("nan"), float("inf")]
)
def test_a_time_that_cannot_be_parsed_costs_its_session_and_is_not_quoted_at_length(time: Any) -> None:
    arrival = read(lines(chat(user("kept")), chat(timestamp=time)))
    assert refused(arrival) == [("bad_time", "line 2")]
    assert arrival.quarantine["weight"].to_pylist() == [2]
    assert len(arrival.quarantine["reason"][0].as_py()) < 200
    assert arrival.turns["text"].to_pylist() == ["kept"]


@pytest.mark.flash
def test_a_misspelt_time_key_is_an_error_and_one_missing_here_and_there_is_not() -> None:
    with pytest.raises(IngestError, match="--key time=tmie: no record holds this key"):
        read(lines(chat(time=5), chat()), keys={"time": "tmie"})
    arrival = read(lines(chat(user("a"), at=1757015046), chat(user("b"))), keys={"time": "at"})
    assert arrival.turns["session_time"].null_count == 1
    assert read(b"", keys={"time": "at"}).turns.num_rows == 0


@pytest.mark.flash
def test_tools_null_content_parts_and_names() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"at": "door"}'}}
    arrival = read(
        lines(
            chat(
                {"role": "system", "content": "Be kind."},
                user([{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {}}], name="Ada"),
                bot(None, tool_calls=[call]),
                {"role": "tool", "tool_call_id": "c", "name": "look", "content": "a cat"},
                {"role": "function", "name": "look", "content": "a dog", "id": "m4"},
                bot(None),
            )
        )
    )
    assert [(row["role"], row["speaker"], row["text"]) for row in arrival.turns.to_pylist()] == [
        ("system", None, "Be kind."),
        ("user", "Ada", "See\n[image]"),
        ("assistant", None, 'look({"at": "door"})'),
        ("tool", "look", "a cat"),
        ("tool", "look", "a dog"),
    ]
    assert arrival.turns["source_turn"].to_pylist() == [None] * 4 + ["m4"]
    assert arrival.counts["blank_turns"] == 1


@pytest.mark.flash
@pytest.mark.parametrize(
    "message",
    [
        5,
        None,
        "Hi",
        [],
        {},
        {"content": "x"},
        {"role": 5, "content": "x"},
        {"role": "", "content": "x"},
        {"role": [], "content": "x"},
        {"role": "user" * 1_000_000, "content": "x"},
        {"role": "user", "content": 5},
        {"role": "user", "content": {"text": "x"}},
        {"role": "user", "content": [5]},
        {"role": "assistant", "content": "x", "tool_calls": "run"},
        {"role": "assistant", "content": "x", "tool_calls": [{"function": {}}]},
    ],
)
def test_a_message_that_is_none_costs_itself_in_an_object_and_in_a_bare_list(message: Any) -> None:
    for payload, place in (
        (lines(chat(user(), message, bot())), "line 1"),
        (lines([user(), message, bot()]), "item 0"),
    ):
        arrival = read(payload)
        assert arrival.turns["text"].to_pylist() == ["Hi", "Hello"]
        assert refused(arrival) == [("bad_turn", f"{place}, turn 1")]


@pytest.mark.flash
@pytest.mark.parametrize(
    "line", ["5", "null", '"x"', "{}", '{"messages": null}', '{"messages": {}}', '{"role": "user"}']
)
def test_a_line_that_is_no_chat_costs_itself(line: str) -> None:
    arrival = read(lines(chat(), line, "{broken", chat(user("kept"))))
    assert refused(arrival) == [("wrong_shape", "line 2"), ("not_json", "line 3")]
    assert arrival.turns.num_rows == 3


@pytest.mark.flash
def test_the_reply_of_a_log_is_the_last_turn_once() -> None:
    def log(*messages: Any, reply: Any) -> dict[str, Any]:
        return chat(*messages, response={"choices": [{"message": reply}]})

    assert read(lines(log(user(), reply=bot("Yes")))).turns["text"].to_pylist() == ["Hi", "Yes"]
    there = log(user(), bot([{"type": "text", "text": "Yes"}]), reply=bot("Yes"))
    assert read(lines(there)).turns["text"].to_pylist() == ["Hi", "Yes"]
    for none in (None, [], {}, {"choices": []}, {"error": "busy"}):
        failed = read(lines(chat(user(), response=none)))
        assert failed.turns["text"].to_pylist() == ["Hi"]
        assert failed.quarantine["weight"].to_pylist() == ([0] if none else [])
    for junk in (0, 5, "Yes", [5], {"choices": [5]}, {"choices": {"message": 5}}, {"choices": [{"message": None}]}):
        damaged = read(lines(chat(user(), response=junk)))
        assert damaged.turns["text"].to_pylist() == ["Hi"]
        assert refused(damaged) == [("bad_turn", "line 1, response")]
        assert damaged.quarantine["weight"].to_pylist() == [1]
    broken = read(lines(log(user(), reply={"role": "assistant", "content": 5})))
    assert refused(broken) == [("bad_turn", "line 1, turn 1")]


@pytest.mark.flash
def test_a_bare_list_takes_its_owner_from_its_messages_and_must_have_one() -> None:
    mine = {"user_id": "ada", "session_id": "s", "timestamp": 1757015046}
    arrival = read(lines(user(**mine), bot(**{**mine, "timestamp": 1757015099}, id="m1")))
    assert told(arrival) == [("ada", "s", "Hi"), ("ada", "s", "Hello")]
    assert set(arrival.turns["session_time"].to_pylist()) == {datetime(2025, 9, 4, 19, 44, 6, tzinfo=UTC)}
    for other in ({"user_id": "bo"}, {"session_id": "t"}):
        with pytest.raises(IngestError, match="line 2: messages of several histories or sessions"):
            read(lines(user(**mine), bot(**{**mine, **other})))
    with pytest.raises(IngestError, match="key history_id holds no name"):
        read(lines(user(history_id=["x"])))


@pytest.mark.flash
@pytest.mark.parametrize(("requests", "asked"), [("last", ["c", "d"]), ("every-step", ["a", "c", "d"]), ("none", [])])
def test_requests_are_made_by_session(requests: str, asked: list[str], settle_first: Any) -> None:
    arrival = read(lines(chat(user("a"), bot("b"), user("c")), chat(user("d"), bot("e"))), requests=requests)
    settled = settle_first([arrival])
    assert settled.requests["text"].to_pylist() == asked
    assert settled.quarantine.num_rows == 0
    if requests == "last":
        assert [(row["seen_session"], row["seen_turn"]) for row in settled.requests.to_pylist()] == [(0, 1), (1, -1)]


@pytest.mark.flash
def test_a_session_id_that_comes_again_with_another_time_is_another_session(settle_first: Any) -> None:
    def said(text: str, time: int) -> dict[str, Any]:
        return chat(user(text), thread_id="t", timestamp=time)

    settled = settle_first([read(lines(said("a", 1757015046), said("b", 1757015047), said("b", 1757015047)))])
    assert settled.turns["text"].to_pylist() == ["a", "b"]
    assert settled.requests["text"].to_pylist() == ["a", "b"]
    assert settled.quarantine.num_rows == 0
    assert settled.counts["repeated_turns"] == 1


@pytest.mark.flash
def test_items_are_chosen_by_position_history_and_session() -> None:
    payload = lines(chat(user("a"), user="ada", id="s0"), chat(user("b"), user="bo", id="s1"), chat(user("c"), id="s2"))
    assert read(payload, items="1").turns["text"].to_pylist() == ["b"]
    assert read(payload, items="ada,s2").turns["text"].to_pylist() == ["a", "c"]
    with pytest.raises(IngestError, match="lacks: eve"):
        read(payload, items="eve")


@pytest.mark.flash
def test_lines_stream_and_hold_one_session_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from pipeline.ingest import formats

    monkeypatch.setattr(formats, "ARRIVAL_CHARACTERS", 1)
    stream = io.BytesIO(lines(*[chat(user("x" * 1000))] * 1000))
    document = Document.of(stream, "chats.jsonl")
    next(arrivals("openai-chat", [document], {}))
    assert stream.tell() < 20_000


@pytest.mark.flash
def test_odd_text_is_kept_and_sanitised() -> None:
    texts = ["<|endoftext|>", "\ud83d lone", "a\x00b", "مرحبا 👩‍👩‍👧", "x" * 3_000_000]
    arrival = read(lines(chat(*[user(text) for text in texts])))
    assert arrival.turns["text"].to_pylist() == ["<|endoftext|>", "\ufffd lone", "ab", "مرحبا 👩‍👩‍👧", texts[4]]
    assert refused(arrival) == []


@pytest.mark.parametrize("name", ["fncall-llm-message", "nonfncall-llm-message", "llm-log-claude"])
def test_real_files_hold_what_an_independent_count_finds(real_data: Path, settle_first: Any, name: str) -> None:
    path = real_data / "trajectories" / "openai-chat" / f"{name}.json"
    value = json.loads(path.read_text())
    messages = value if isinstance(value, list) else [*value["messages"], value["response"]["choices"][0]["message"]]
    with path.open("rb") as stream:
        settled = settle_first(list(arrivals("openai-chat", [Document.of(stream, path.name)], {})))
    turns = settled.turns.to_pylist()
    spoken = [message for message in messages if message["content"] or message.get("tool_calls")]
    assert len(turns) == len(spoken) == len(messages)
    assert [turn["role"] for turn in turns] == [message["role"] for message in spoken]
    for turn, message in zip(turns, spoken, strict=True):
        content = message["content"]
        assert (content if isinstance(content, str) else "\n".join(part["text"] for part in content)) in turn["text"]
        for call in message.get("tool_calls") or []:
            assert f"{call['function']['name']}({call['function']['arguments']})" in turn["text"]
    assert {turn["history_id"] for turn in turns} == {name}
    time = None if isinstance(value, list) else datetime.fromtimestamp(value["timestamp"], UTC)
    assert {turn["session_time"] for turn in turns} == {time}
    assert settled.counts["sessions"] == settled.requests.num_rows == 1
    assert (settled.labels.num_rows, settled.quarantine.num_rows) == (0, 0)


@pytest.mark.flash
@pytest.mark.parametrize(("ids", "turns", "lost"), [(False, ["c", "d", "e"], 2), (True, ["e"], 0)])
def test_a_session_that_comes_without_its_beginning_reads_as_edited_unless_its_messages_have_ids(
    ids: bool, turns: list[str], lost: int
) -> None:
    said = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate("abcde")]
    if ids:
        said = [{**message, "id": message["content"]} for message in said]
    nights = ([chat(*part, session_id="s")] for part in (said[:4], said[2:]))
    first, second = settled_in_turn([read(lines(*night), requests="every-step")] for night in nights)
    assert first.turns["text"].to_pylist() == ["a", "b", "c", "d"]
    assert second.turns["text"].to_pylist() == turns
    assert second.quarantine["code"].to_pylist() == ["conflict"] * lost

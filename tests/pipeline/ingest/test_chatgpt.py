"""ChatGPT's export: the branch that the user saw, day by day, in the order in which it was said."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from arrived import refused, settled_in_turn
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import arrivals
from pipeline.ingest.source import Document

pytestmark = pytest.mark.flash

MONDAY = 1757318400.25


def read(value: Any, **options: Any) -> Any:
    payload = value if isinstance(value, bytes) else json.dumps(value).encode()
    (arrival,) = arrivals("chatgpt", [Document.of(io.BytesIO(payload), "me/conversations.json")], options)
    return arrival


def message(role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    return {"author": {"role": role, "name": None}, "content": {"content_type": "text", "parts": list(parts)}, **more}


def node(parent: str | None, children: list[str], told: Any) -> dict[str, Any]:
    return {"parent": parent, "children": children, "message": told}


def chat(*messages: Any, name: str = "c1", time: Any = MONDAY, **more: Any) -> dict[str, Any]:
    """A conversation without branches; the root holds no message."""
    nodes: dict[str, Any] = {"root": node(None, ["n0"] if messages else [], None)}
    for index, told in enumerate(messages):
        children = [f"n{index + 1}"] if index + 1 < len(messages) else []
        nodes[f"n{index}"] = node("root" if index == 0 else f"n{index - 1}", children, told)
    last = f"n{len(messages) - 1}" if messages else "root"
    title = {"title": "T", "create_time": time, "conversation_id": name, "current_node": last, "mapping": nodes}
    return {**title, **more}


def at(day: int, hour: float, month: int = 11) -> datetime:
    return datetime(2025, month, day, tzinfo=UTC) + timedelta(hours=hour)


def said(text: str, time: datetime | None, role: str = "user", **more: Any) -> dict[str, Any]:
    """A message called after what it says."""
    return message(role, text, id=text, create_time=time and time.timestamp(), **more)


NOVEMBER = [said("a", at(28, 22.25)), said("b", at(28, 22.5), "assistant")]
DECEMBER = [said("c", at(2, 9, 12)), said("d", at(2, 9.5, 12), "assistant"), said("e", at(2, 10, 12))]


def weeks(*more: Any, **changed: Any) -> dict[str, Any]:
    """A conversation of 28 November that went on on 2 December."""
    return chat(*NOVEMBER, *(more or DECEMBER), **{"time": at(28, 22.2).timestamp(), **changed})


def sessions(arrival: Any) -> list[tuple[datetime | None, str]]:
    """Time and texts of each session, in their order."""
    told: dict[tuple[int, datetime | None], str] = {}
    for row in arrival.turns.to_pylist():
        key = row["item"], row["session_time"]
        told[key] = told.get(key, "") + row["text"]
    return [(time, texts) for (_, time), texts in told.items()]


def test_what_was_said_on_a_later_day_is_a_session_at_its_own_time() -> None:
    arrival = read([weeks()])
    assert sessions(arrival) == [(at(28, 22.25), "ab"), (at(2, 9, 12), "cde")]
    assert arrival.turns["source_session"].to_pylist() == ["c1"] * 5
    named = read([weeks()], keys={"session": "title"})
    assert named.turns["source_session"].to_pylist() == ["T"] * 5


def test_a_chat_that_goes_on_over_midnight_is_two_sessions() -> None:
    late = [said("a", at(28, 23.9)), said("b", at(28, 23.99)), said("c", at(29, 0)), said("d", at(29, 0.5))]
    assert sessions(read([chat(*late)])) == [(at(28, 23.9), "ab"), (at(29, 0), "cd")]


def test_days_of_conversations_stand_between_each_other(settle_first: Any) -> None:
    settled = settle_first([read([chat(said("x", at(30, 8)), name="c2"), weeks()])])
    assert settled.turns["text"].to_pylist() == ["a", "b", "x", "c", "d", "e"]
    assert settled.sources["source_session"].to_pylist() == ["c1", "c1", "c2", "c1", "c1", "c1"]
    assert settled.sources["continues"].to_pylist() == [None, None, None, 0, 0, 0]


def test_a_message_without_a_time_belongs_to_the_day_before_it_and_the_first_ones_to_the_first_day() -> None:
    told = [said("y", None), said("z", None), *NOVEMBER, said("u", None), *DECEMBER, said("v", None)]
    assert sessions(read([chat(*told)])) == [(at(28, 22.25), "yzabu"), (at(2, 9, 12), "cdev")]
    undated = [said("y", None), said("z", None)]
    assert sessions(read([chat(*undated, time=at(28, 8).timestamp())])) == [(at(28, 8), "yz")]
    assert sessions(read([chat(*undated, time=None)])) == [(None, "yz")]
    assert sessions(read([weeks(time=None)])) == [(at(28, 22.25), "ab"), (at(2, 9, 12), "cde")]


def test_a_message_that_tells_an_earlier_time_than_one_before_it_is_said_with_that_one() -> None:
    told = [*NOVEMBER, DECEMBER[0], said("early", at(1, 0)), said("f", at(29, 9)), said("g", at(3, 8, 12))]
    arrival = read([chat(*told)], requests="every-step")
    assert sessions(arrival) == [(at(28, 22.25), "ab"), (at(2, 9, 12), "cearlyf"), (at(3, 8, 12), "g")]
    asked = dict(arrival.requests.select(["text", "asked_at"]).to_pandas().itertuples(index=False))
    assert (asked["early"], asked["f"], asked["g"]) == (at(2, 9, 12), at(2, 9, 12), at(3, 8, 12))


def test_what_is_hidden_or_unsaid_makes_no_day() -> None:
    hidden = said("h", at(30, 8), metadata={"is_visually_hidden_from_conversation": True})
    thoughts = {**said("t", at(1, 8, 12), "assistant"), "content": {"content_type": "thoughts", "thoughts": []}}
    assert len(sessions(read([weeks(hidden, thoughts, *DECEMBER)]))) == 2


@pytest.mark.parametrize("time", ["soon", True, [], {}, 0, -1, 20251128, 1e300])
def test_a_message_whose_time_cannot_be_parsed_costs_itself(time: Any) -> None:
    arrival = read([weeks({**said("x", None), "create_time": time}, *DECEMBER)])
    assert sessions(arrival) == [(at(28, 22.25), "ab"), (at(2, 9, 12), "cde")]
    assert refused(arrival) == [("bad_time", "item 0, turn 2")]


def test_the_last_message_of_the_user_is_asked_when_it_was_said_and_sees_the_days_before_it(settle_first: Any) -> None:
    other = chat(said("x", at(30, 8)), name="c2")
    settled = settle_first([read([other, weeks()])])
    asked = [(row["request_id"], row["asked_at"], row["seen_session"], row["seen_turn"])
             for row in settled.requests.to_pylist()]  # fmt: skip
    assert asked == [("c1#e", at(2, 10, 12), 2, 1), ("c2#x", at(30, 8), 1, -1)]
    answered = weeks(said("y", at(5, 9, 12), "assistant"), said(" ", at(6, 9, 12)))
    assert read([answered]).requests["request_id"].to_pylist() == ["c1#a"]
    every = read([weeks()], requests="every-step").requests
    assert every["request_id"].to_pylist() == ["c1#a", "c1#c", "c1#e"]
    assert every["asked_at"].to_pylist() == [at(28, 22.25), at(2, 9, 12), at(2, 10, 12)]
    assert read([weeks()], requests="none").requests.num_rows == 0


def test_a_turn_is_found_by_the_conversation_and_its_id_on_whatever_day_it_was_said(deliver: Any) -> None:
    def known(*cited: Any) -> Any:
        evidence = [{"session": "c1", "turn": turn} for turn in cited]
        request = {"request_id": "q", "text": "?", "evidence": evidence}
        return deliver("native", [{"history_id": "me/conversations", "requests": [request]}])

    _, found = settled_in_turn([[read([weeks()])], known("a", "d", 1)])
    assert [(row["session_index"], row["turn_index"]) for row in found.labels.to_pylist()] == [
        (1 << 20, 0),
        ((1 << 20) + 1, 1),
    ]
    assert [row["code"] for row in found.quarantine.to_pylist()] == ["citation"]


def test_an_export_that_has_grown_by_a_day_stores_that_day_at_its_own_time() -> None:
    before, after, again = settled_in_turn([[read([weeks(DECEMBER[0])])], [read([weeks()])], [read([weeks()])]])
    assert before.turns["session_time"].to_pylist() == [at(28, 22.25)] * 2 + [at(2, 9, 12)]
    assert after.turns["text"].to_pylist() == ["d", "e"]
    assert after.turns["session_time"].to_pylist() == [at(2, 9, 12)] * 2
    assert again.turns.num_rows == again.requests.num_rows == again.quarantine.num_rows == 0


def test_a_branch_that_was_edited_on_a_later_day_stands_there_and_nothing_is_stored_twice() -> None:
    edited = weeks(said("C", at(4, 9, 12)), said("D", at(4, 9.1, 12), "assistant"))
    exports = [weeks(), edited, weeks()]
    first, second, third = settled_in_turn([read([export])] for export in exports)
    assert first.turns["text"].to_pylist() == ["a", "b", "c", "d", "e"]
    assert second.turns["text"].to_pylist() == ["C", "D"]
    assert second.turns["session_time"].to_pylist() == [at(4, 9, 12)] * 2
    assert third.turns.num_rows == third.quarantine.num_rows == 0


@given(
    st.lists(st.none() | st.integers(0, 90), min_size=1, max_size=8),
    st.integers(1, 8),
)
def test_what_is_said_later_moves_no_message_and_times_never_go_back(hours: list[int | None], cut: int) -> None:
    told = [said(f"m{n}", None if hour is None else at(3, hour)) for n, hour in enumerate([0, *hours])]
    keys = ["session_key", "turn_key", "content_digest", "session_time", "text"]
    earlier, whole = (read([chat(*messages)], requests="every-step") for messages in (told[:cut], told))
    stored = whole.turns.select(keys).to_pylist()
    assert [row["text"] for row in stored] == [one["id"] for one in told]
    assert stored[: min(cut, len(told))] == earlier.turns.select(keys).to_pylist()
    times = [row["session_time"] for row in stored]
    assert times == sorted(times)
    asked = ["request_id", "asked_at", "text"]
    requests = whole.requests.select(asked).to_pylist()
    assert requests[: earlier.requests.num_rows] == earlier.requests.select(asked).to_pylist()
    assert all(row["asked_at"] >= time for row, time in zip(requests, times, strict=True))


def test_the_file_is_one_history_and_conversations_stand_in_the_order_of_their_times(settle_first: Any) -> None:
    export = [
        chat(message("user", "newest"), name="c", time=MONDAY + 200),
        chat(message("user", "undated"), name="u", time=None),
        chat(message("user", "oldest"), message("assistant", "yes"), name="a"),
        chat(message("user", "middle"), name="b", time=MONDAY + 100),
    ]
    settled = settle_first([read(export)])
    assert settled.turns["text"].to_pylist() == ["oldest", "yes", "middle", "newest", "undated"]
    assert set(settled.turns["history_id"].to_pylist()) == {"me/conversations"}
    assert settled.sources["source_session"].to_pylist() == ["a", "a", "b", "c", "u"]
    start = datetime(2025, 9, 8, 8, 0, 0, 250_000, tzinfo=UTC)
    times = settled.turns["session_time"].to_pylist()
    assert times == [start, start, start + timedelta(seconds=100), start + timedelta(seconds=200), None]
    seen = {row["text"]: (row["seen_session"], row["seen_turn"]) for row in settled.requests.to_pylist()}
    assert seen == {"oldest": (0, -1), "middle": (1, -1), "newest": (2, -1), "undated": (3, -1)}
    assert settled.quarantine.num_rows == 0


def test_an_export_that_has_grown_adds_what_is_new_whatever_its_order() -> None:
    first = read([chat(message("user", "a"), name="x")])
    grown = read(
        [chat(message("user", "c"), name="y", time=MONDAY - 9), chat(message("user", "a"), message("user", "b"))]
    )
    again = read([chat(message("user", "c"), name="y"), chat(message("user", "a"), message("user", "b"), name="x")])
    keys = ["session_key", "turn_key", "content_digest"]
    stored, offered = first.turns.select(keys).to_pylist(), again.turns.select(keys).to_pylist()
    assert stored[0] in offered
    assert grown.turns["text"].to_pylist() == ["c", "a", "b"]


def test_only_the_branch_that_leads_to_the_current_node_is_read() -> None:
    mapping = {
        "root": node(None, ["q"], None),
        "q": node("root", ["old", "new"], message("user", "question", id="q")),
        "old": node("q", [], message("assistant", "regenerated", id="old")),
        "new": node("q", ["next"], message("assistant", "answer", id="new")),
        "next": node("new", [], message("user", "thanks", id="next")),
    }
    arrival = read([{"mapping": mapping, "current_node": "next", "id": "c"}])
    assert arrival.turns["text"].to_pylist() == ["question", "answer", "thanks"]
    assert arrival.turns["source_turn"].to_pylist() == ["q", "new", "next"]
    assert arrival.turns["source_session"].to_pylist() == ["c"] * 3
    for current in (None, "gone", 5, []):
        assert read([{"mapping": mapping, "current_node": current}]).turns["text"].to_pylist()[-1] == "thanks"


def test_what_was_said_called_and_shown_is_text_and_what_was_thought_or_hidden_is_not() -> None:
    def of(kind: str, role: str = "assistant", **content: Any) -> dict[str, Any]:
        return {"author": {"role": role}, "content": {"content_type": kind, **content}}

    image = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://x"}
    spoken = {"content_type": "audio_transcription", "text": "spoken"}
    told = [
        message("system", ""),
        of("user_editable_context", "user", user_profile="p", user_instructions="i"),
        message("system", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
        message("user", image, "what is it?", spoken),
        of("thoughts", thoughts=[{"summary": "s", "content": "c"}]),
        of("reasoning_recap", content="Thought for 5 s"),
        {**of("code", text="print(1)"), "recipient": "python"},
        {**of("execution_output", "tool", text="1"), "author": {"role": "tool", "name": "python"}},
        of("tether_browsing_display", "tool", result="found", summary=None),
        {**message("assistant", "It is one."), "recipient": "all"},
        message("assistant", ""),
    ]
    arrival = read([chat(*told)])
    assert [(row["role"], row["speaker"], row["text"]) for row in arrival.turns.to_pylist()] == [
        ("user", None, "[image]\nwhat is it?\nspoken"),
        ("assistant", None, "python(print(1))"),
        ("tool", "python", "1"),
        ("tool", None, "found"),
        ("assistant", None, "It is one."),
    ]
    assert refused(arrival) == []


@pytest.mark.parametrize(
    "told",
    [
        5,
        "x",
        [],
        {},
        {"author": None, "content": {"parts": ["x"]}},
        {"author": {"role": None}, "content": {"parts": ["x"]}},
        {"author": {"role": 5}, "content": {"parts": ["x"]}},
        message("user", 5),
        {"author": {"role": "user"}, "content": {"parts": 5}},
        {"author": {"role": "user"}, "content": 5},
    ],
)
def test_a_message_that_is_none_costs_itself(told: Any) -> None:
    arrival = read([chat(message("user", "a"), told, message("assistant", "b"))])
    assert arrival.turns["text"].to_pylist() == ["a", "b"]
    assert refused(arrival) == [("bad_turn", "item 0, turn 1")]


@pytest.mark.parametrize(
    "content", [None, {}, {"content_type": ["x"]}, {"parts": None}, {"parts": []}, {"parts": [None]}]
)
def test_a_message_without_content_is_blank(content: Any) -> None:
    arrival = read([chat(message("user", "a"), {"author": {"role": "assistant"}, "content": content})])
    assert (arrival.turns.num_rows, arrival.counts["blank_turns"], refused(arrival)) == (1, 1, [])


@pytest.mark.parametrize("item", [5, None, "x", [], {}, {"mapping": None}, {"mapping": []}, {"title": "T"}])
def test_a_conversation_that_is_none_costs_itself(item: Any) -> None:
    arrival = read([item, chat(message("user", "kept"))])
    assert arrival.turns["text"].to_pylist() == ["kept"]
    assert refused(arrival) == [("wrong_shape", "item 0")]


@pytest.mark.parametrize("time", ["soon", True, [], {}, 1e300])
def test_a_time_that_cannot_be_parsed_costs_its_conversation(time: Any) -> None:
    arrival = read([chat(message("user", "a"), message("user", "b"), time=time), chat(message("user", "kept"))])
    assert arrival.turns["text"].to_pylist() == ["kept"]
    assert [(row["code"], row["weight"]) for row in arrival.quarantine.to_pylist()] == [("bad_time", 2)]


@pytest.mark.parametrize(
    "broken", [{}, {"parent": None, "children": [], "message": None}, node(None, ["n2"], message("user", "b"))]
)
def test_a_node_that_has_lost_its_parent_is_missed_by_it(broken: Any) -> None:
    item = chat(message("user", "a"), message("assistant", "b"), message("user", "c"))
    item["mapping"]["n1"] = broken
    arrival = read([item])
    assert "a" not in arrival.turns["text"].to_pylist()
    assert refused(arrival) == [("bad_turn", "item 0")]


@pytest.mark.parametrize("broken", [5, None, [], {"parent": "n1"}, {"parent": "a"}, {"parent": 5}, {"parent": ["a"]}])
def test_a_tree_that_is_broken_or_turns_in_a_circle_ends(broken: Any) -> None:
    leaf = node("a", [], message("user", "leaf"))
    arrival = read([{"mapping": {"n1": leaf, "a": broken}, "current_node": "n1"}])
    assert arrival.turns["text"].to_pylist() == ["leaf"]
    assert refused(arrival) == [("bad_turn", "item 0")]
    circle = {"a": node("b", ["b"], message("user", "x")), "b": node("a", ["a"], message("user", "y"))}
    assert refused(read([{"mapping": circle}, chat(message("user", "kept"))])) == [("bad_session", "item 0")]


def test_a_key_divides_the_file_into_histories() -> None:
    export = [
        chat(message("user", name), name=name, owner=owner) for name, owner in (("1", "a"), ("2", "b"), ("3", "a"))
    ]
    arrival = read([*export, chat(message("user", "4"), name="4")], keys={"history": "owner"})
    owned = zip(arrival.turns["history_id"].to_pylist(), arrival.turns["text"].to_pylist(), strict=True)
    assert sorted(owned) == [("a", "1"), ("a", "3"), ("b", "2")]
    assert refused(arrival) == [("wrong_shape", "item 3")]


def test_items_are_chosen_by_position_and_conversation() -> None:
    export = [chat(message("user", "a"), name="x"), chat(message("user", "b"), name="y"), 5]
    assert read(export, items="y").turns["text"].to_pylist() == ["b"]
    assert read(export, items="0").turns["text"].to_pylist() == ["a"]
    with pytest.raises(IngestError, match="lacks: z"):
        read(export, items="z")


def test_each_day_of_a_conversation_counts_as_an_item_and_what_is_refused_is_told_once() -> None:
    export = [chat(message("user", "a"), 5, time=MONDAY + 1), chat(message("user", "b"), name="y"), chat(time="soon")]
    arrival = read(export)
    assert arrival.counts["items"] == 2
    assert read([weeks()]).counts["items"] == 2
    assert refused(arrival) == [("bad_turn", "item 0, turn 1"), ("bad_time", "item 2")]
    assert refused(read([chat(message("user", "a"), time="soon")])) == [("bad_time", "item 0")]


def test_every_message_of_the_user_can_be_asked() -> None:
    export = [chat(message("user", "a"), message("assistant", "b"), message("user", "c"))]
    assert read(export, requests="every-step").requests["text"].to_pylist() == ["a", "c"]
    assert read(export).requests["request_id"].to_pylist() == ["c1#t2"]
    assert read(export, requests="none").requests.num_rows == 0


def test_a_question_that_was_edited_after_an_export_is_asked_beside_the_first() -> None:
    told = [message(role, f"{number}", id=f"m{number}") for number, role in enumerate(("user", "assistant") * 2)]
    edited = [*told[:2], message("user", "2, edited", id="m4"), message("assistant", "other", id="m5")]
    before, after = settled_in_turn([read([chat(*messages)])] for messages in (told, edited))
    assert after.turns["text"].to_pylist() == ["2, edited", "other"]
    assert set(after.sources["continues"].to_pylist()) == {1 << 20}
    asked = [new.requests["request_id"].to_pylist() for new in (before, after)]
    assert asked == [["c1#m2"], ["c1#m4"]]
    assert after.quarantine.num_rows == 0

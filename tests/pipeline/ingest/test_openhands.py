"""OpenHands: events of V0 and V1, linked by their ids, and the output of evaluations."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from arrived import rows

from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import arrivals
from pipeline.ingest.source import Document

TIME = "2025-01-27T22:44:56.900854"


def does(number: Any, action: str, *, source: str = "agent", message: str = "", **args: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": TIME, "source": source, "message": message, "action": action, "args": args}


def seen(cause: Any, content: Any, observation: str = "run", **more: Any) -> dict[str, Any]:
    return {"id": 90, "timestamp": TIME, "cause": cause, "observation": observation, "content": content, **more}


def event(kind: str, number: str = "e", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "id": number, "timestamp": TIME, "source": "agent", **more}


def part(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


ASKED = does(0, "message", source="user", content="Please fix it")
NOISE = [
    seen(None, "", "agent_state_changed", extras={"agent_state": "running"}),
    does(1, "change_agent_state", agent_state="finished"),
    does(2, "recall", source="user", query="Please fix it"),
    seen(2, "Retrieved a prompt", "recall"),
    does(4, "condensation", forgotten_event_ids=[0], summary="secret"),
    seen(0, "", "null"),
]


@pytest.mark.flash
def test_an_observation_joins_the_action_that_its_cause_names_over_gaps_and_noise(deliver: Any) -> None:
    events = [
        does(0, "system", content="You are an agent", tools=[{"huge": "secret"}]),
        ASKED,
        *NOISE,
        does(7, "run", command="ls", thought="look", blocking=False),
        does(9, "run_ipython", code="1 + 1", thought=""),
        *NOISE,
        seen(9, "2", "run_ipython"),
        seen(7, "a.py"),
        does(20, "finish", thought="", outputs={}, message="All done"),
    ]
    (arrival,) = deliver("openhands", events)
    assert rows(arrival) == [
        ("system", "You are an agent"),
        ("user", "Please fix it"),
        ("assistant", "look\n\n$ ls\n=>\na.py"),
        ("assistant", "$ 1 + 1\n=>\n2"),
        ("assistant", "All done\n\n$ finish"),
    ]
    assert arrival.turns["source_turn"].to_pylist() == ["0", "0", "7", "9", "20"]
    assert arrival.quarantine.num_rows == 0


@pytest.mark.flash
def test_times_without_a_zone_are_utc_and_the_first_is_that_of_the_session(deliver: Any) -> None:
    later = {**does(1, "run", command="ls"), "timestamp": "2030-01-01T00:00:00"}
    (arrival,) = deliver("openhands", [ASKED, later, seen(1, "a.py")])
    time = datetime(2025, 1, 27, 22, 44, 56, 900854, UTC)
    assert arrival.turns["session_time"].to_pylist() == [time, time]
    assert arrival.requests["asked_at"].to_pylist() == [time]
    (arrival,) = deliver(
        "openhands", [{**ASKED, "timestamp": None}, {**ASKED, "timestamp": "2025-01-01T02:00:00+02:00"}]
    )
    assert set(arrival.turns["session_time"].to_pylist()) == {datetime(2025, 1, 1, tzinfo=UTC)}


@pytest.mark.flash
@pytest.mark.parametrize("timestamp", ["yesterday", 5, [], {}])
def test_a_time_that_cannot_be_read_costs_the_run(deliver: Any, timestamp: Any) -> None:
    (arrival,) = deliver("openhands", [{**ASKED, "timestamp": timestamp}, does(1, "run", command="ls")])
    assert arrival.turns.num_rows == 0
    assert [(row["code"], row["weight"]) for row in arrival.quarantine.to_pylist()] == [("bad_time", 2)]


@pytest.mark.flash
def test_messages_in_the_middle_are_turns_and_the_next_step_is_asked_for_after_them(
    deliver: Any, settle_first: Any
) -> None:
    events = [
        ASKED,
        does(1, "run", command="ls"),
        seen(1, "a.py"),
        does(2, "message", content="Which one?"),
        does(3, "message", source="user", content="The first"),
        does(4, "run", command="pwd", source="user"),
        seen(4, "/"),
    ]
    settled = settle_first(deliver("openhands", events, requests="every-step"))
    assert settled.turns["role"].to_pylist() == ["user", "assistant", "assistant", "user", "user"]
    requests = {row["request_id"]: row for row in settled.requests.to_pylist()}
    assert {name: row["seen_turn"] for name, row in requests.items()} == {"source#s1": 1, "source#s5": 4}
    assert requests["source#s5"]["text"] == "Please fix it\n\nWhich one?\n\nThe first\n\n$ pwd\n=>\n/"


@pytest.mark.flash
def test_a_tool_call_shows_its_arguments_and_not_the_model_response(deliver: Any) -> None:
    arguments = json.dumps({"command": "create", "path": "/a.py", "file_text": "x\ny"})
    call = {"id": "c1", "function": {"name": "str_replace_editor", "arguments": arguments}}
    response = {"choices": [{"message": {"tool_calls": [{"id": "c0"}, call]}}], "usage": {"secret": 1}}
    metadata = {"function_name": "str_replace_editor", "tool_call_id": "c1", "model_response": response}
    edit = {**does(1, "edit", path="/a.py", content="", thought="write"), "tool_call_metadata": metadata}
    result = {**seen(None, "created", "edit"), "tool_call_metadata": metadata}
    (arrival,) = deliver("openhands", [ASKED, edit, does(2, "browse", url="http://x", thought=None), result])
    assert [text for _, text in rows(arrival)][1:] == [
        "write\n\n$ str_replace_editor command=create path=/a.py\nfile_text:\nx\ny\n=>\ncreated",
        "$ browse url=http://x",
    ]


@pytest.mark.flash
def test_an_observation_of_an_action_that_is_not_there_is_a_turn_of_its_own(deliver: Any) -> None:
    (arrival,) = deliver("openhands", [ASKED, does(1, "run", command="ls"), seen(77, "lost", "error"), seen(1, "a.py")])
    assert rows(arrival)[1:] == [("assistant", "$ ls\n=>\na.py"), ("tool", "lost")]


@pytest.mark.flash
def test_events_of_v1_become_the_same_turns(deliver: Any) -> None:
    terminal = {"kind": "TerminalAction", "command": "ls", "is_input": False, "timeout": None}
    events = [
        event("SystemPromptEvent", system_prompt={"type": "text", "text": "You are an agent"}, tools=[{"a": "secret"}]),
        event("MessageEvent", source="user", llm_message={"role": "user", "content": part("Please fix it")}),
        event("ConversationStateUpdateEvent", key="secret", value="secret"),
        event("ActionEvent", "a1", thought=part("look"), action=terminal, tool_name="terminal", tool_call_id="c1"),
        event(
            "ActionEvent",
            "a2",
            thought=[],
            action=None,
            tool_call={"name": "go", "arguments": '{"n": 1}'},
            tool_call_id="c2",
        ),
        event("AgentErrorEvent", error="no such tool", tool_name="go", tool_call_id="c2"),
        event(
            "ObservationEvent", action_id="a1", observation={"kind": "X", "content": part("a.py")}, tool_call_id="c1"
        ),
        event("CondensationSummaryEvent", summary="secret"),
        event("Condensation", summary="secret", forgotten_event_ids=["a1"]),
        event(
            "ActionEvent", "a3", thought=[], reasoning_content="hm", action={"kind": "T", "text": "x"}, tool_name="note"
        ),
        event("UserRejectObservation", source="user", rejection_reason="No", action_id="a3"),
        event("MessageEvent", llm_message={"role": "assistant", "content": "Which one?"}),
        event("ActionEvent", "a4", thought=part("ok"), action={"kind": "F", "message": "All done"}, tool_name="finish"),
        event("ObservationEvent", action_id="a4", observation={"content": part("All done")}, tool_name="finish"),
    ]
    (arrival,) = deliver("openhands", events)
    assert rows(arrival) == [
        ("system", "You are an agent"),
        ("user", "Please fix it"),
        ("assistant", "look\n\n$ ls\n=>\na.py"),
        ("assistant", "$ go n=1\n=>\nno such tool"),
        ("assistant", "hm\n\n$ note text=x\n=>\nNo"),
        ("assistant", "Which one?"),
        ("assistant", "ok\n\nAll done\n\n$ finish"),
    ]
    assert arrival.quarantine.num_rows == 0


@pytest.mark.flash
@pytest.mark.parametrize(
    "history",
    [
        [ASKED, does(1, "run", command="ls"), seen(1, "a.py")],
        [[ASKED, seen(None, "", "null")], [does(1, "run", command="ls"), seen(None, "a.py")]],
        [
            [{k: v for k, v in e.items() if k != "id"} for e in pair]
            for pair in (
                [ASKED, seen(0, "", "null")],
                [does(1, "run", command="ls"), {"observation": "run", "content": "a.py"}],
            )
        ],
    ],
)
def test_an_evaluation_holds_one_run_a_line_as_events_or_as_pairs(deliver: Any, history: Any) -> None:
    (arrival,) = deliver("openhands", {"instance_id": "django__django-1", "history": history, "git_patch": "secret"})
    assert rows(arrival) == [("user", "Please fix it"), ("assistant", "$ ls\n=>\na.py")]
    assert set(arrival.turns["history_id"].to_pylist()) == {"source:django__django-1"}


@pytest.mark.flash
def test_lines_of_an_evaluation_are_called_after_their_task_or_issue_and_a_bad_line_costs_itself() -> None:
    records = [
        {"instance_id": "a", "history": [ASKED]},
        {"issue": {"owner": "o", "repo": "r", "number": 7, "body": "secret"}, "history": [ASKED]},
        {"issue": 8, "history": [ASKED]},
        {"instance_id": None, "history": [ASKED]},
        {"instance_id": "failed", "history": None},
        {"instance_id": "odd", "history": [5]},
    ]
    payload = "\n".join([*map(json.dumps, records), "{broken"]).encode()

    def delivered(**options: Any) -> Any:
        (arrival,) = arrivals("openhands", [Document.of(io.BytesIO(payload), "m/output.jsonl")], options)
        return arrival

    whole = delivered()
    assert whole.turns["history_id"].to_pylist() == [
        "m/output:a",
        "m/output:o/r/7",
        "m/output:8",
        "m/output:4",
    ]
    assert whole.quarantine["code"].to_pylist() == ["wrong_shape", "wrong_shape", "not_json"]
    assert delivered(items="o/r/7").turns["history_id"].to_pylist() == ["m/output:o/r/7"]


@pytest.mark.flash
@pytest.mark.parametrize(
    "bad",
    [
        None,
        5,
        "text",
        {},
        {"id": 1, "action": 5},
        {"id": 1, "action": "run", "args": [5]},
        {"id": 1, "action": "run", "args": {"thought": 5}},
        {"id": 1, "action": "message", "args": {"content": {"a": 1}}},
        {"id": 1, "observation": "run", "content": 5},
        {"id": 1, "observation": {"a": 1}},
        {"kind": "MessageEvent", "llm_message": 5},
        {"kind": "SystemPromptEvent", "system_prompt": 5},
        {"kind": "ActionEvent", "action": 5},
        {"kind": "ActionEvent", "tool_call": {"name": 5}},
        {"kind": "ObservationEvent", "observation": 5},
        {"kind": "UnheardOfEvent", "llm_message": {"role": "user", "content": "x"}},
        {"kind": "UnheardOfEvent", "source": "agent", "observation": {"content": "x"}},
        [],
    ],
)
@pytest.mark.parametrize("at", [0, 2])
def test_a_broken_event_costs_itself_only(deliver: Any, bad: Any, at: int) -> None:
    good = [ASKED, does(1, "run", command="ls"), seen(1, "a.py")]
    (arrival,) = deliver("openhands", [*good[:at], bad, *good[at:]])
    assert rows(arrival) == [("user", "Please fix it"), ("assistant", "$ ls\n=>\na.py")]
    assert [(row["place"], row["code"]) for row in arrival.quarantine.to_pylist()] == [
        (f"item 0, event {at}", "bad_turn")
    ]


@pytest.mark.flash
@pytest.mark.parametrize("key", ["id", "timestamp", "source", "message", "args", "cause", "tool_call_metadata"])
@pytest.mark.parametrize("value", [None, "text", 5, True, [1], {"a": [1]}, 1.5])
def test_no_value_of_any_key_stops_the_reader(deliver: Any, key: str, value: Any) -> None:
    events = [{**ASKED, key: value}, {**does(1, "edit", path="/a"), key: value}, {**seen(1, "done"), key: value}]
    (arrival,) = deliver("openhands", [*events, does(5, "run", command="ls", thought="kept")])
    assert arrival.turns.num_rows + sum(arrival.quarantine["weight"].to_pylist()) > 0
    assert {row["code"] for row in arrival.quarantine.to_pylist()} <= {"bad_turn", "bad_time"}


@pytest.mark.flash
@pytest.mark.parametrize("value", [[5], [{"a": 1}], {"instance_id": "x"}, {"instance_id": "x", "history": 5}, {"a": 1}])
def test_what_holds_no_events_is_an_error(value: Any) -> None:
    with pytest.raises(IngestError):
        list(arrivals("openhands", [Document.of(io.BytesIO(json.dumps(value).encode()), "x.json")], {}))


@pytest.mark.parametrize(("name", "roles"), [("basic", "uaa"), ("basic_interactions", "uauaua")])
def test_real_runs_have_a_turn_for_each_action_with_its_observation(
    real_data: Path, settle_first: Any, name: str, roles: str
) -> None:
    file = real_data / "trajectories" / "openhands" / f"{name}.json"
    raw = json.loads(file.read_text("utf-8"))
    with file.open("rb") as stream:
        settled = settle_first(
            list(arrivals("openhands", [Document.of(stream, file.name)], {"requests": "every-step"}))
        )
    actions = [entry for entry in raw if "action" in entry]
    assert settled.turns["role"].to_pylist() == [{"u": "user", "a": "assistant"}[role] for role in roles]
    assert settled.sources["source_turn"].to_pylist() == [str(entry["id"]) for entry in actions]
    assert settled.requests.num_rows == roles.count("a") - 1  # nothing comes of the last: it says that it has finished
    texts = dict(zip(settled.sources["source_turn"].to_pylist(), settled.turns["text"].to_pylist(), strict=True))
    for entry in raw:
        if "observation" in entry:
            assert texts[str(entry["cause"])].endswith(f"\n=>\n{entry['content'].strip()}")
    assert set(settled.turns["session_time"].to_pylist()) == {
        datetime.fromisoformat(raw[0]["timestamp"]).replace(tzinfo=UTC)
    }
    assert settled.quarantine.num_rows == 0
    assert not any("chatcmpl" in text for text in texts.values())

"""mini-swe-agent: messages paired into steps, in the bare list and in the object of later versions."""

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

SYSTEM = {"role": "system", "content": "Your response must contain exactly ONE bash code block"}
TASK = {"role": "user", "content": "Please solve this"}
ACT = {"role": "assistant", "content": "THOUGHT: look\n\n```mswea_bash_command\nls\n```"}
SEEN = {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"}
STEP = "THOUGHT: look\n\n$ ls\n=>\n<returncode>0</returncode>\n<output>\na.py\n</output>"


def called(text: str | None, **calls: str) -> dict[str, Any]:
    made = [
        {"id": name, "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": command})}}
        for name, command in calls.items()
    ]
    return {"role": "assistant", "content": text, "tool_calls": made, "extra": {"response": {"raw": "x" * 9_000}}}


@pytest.mark.flash
@pytest.mark.parametrize("end", [{"role": "user", "content": ""}, {"role": "exit", "content": None}])
def test_an_action_and_its_observation_are_one_turn_and_an_empty_end_is_none(deliver: Any, end: Any) -> None:
    last = {"role": "assistant", "content": "Done\n\n```bash\necho COMPLETE\n```\nBye"}
    (arrival,) = deliver("mini-swe-agent", [SYSTEM, TASK, ACT, SEEN, last, end])
    assert rows(arrival) == [
        ("system", SYSTEM["content"]),
        ("user", "Please solve this"),
        ("assistant", STEP),
        ("assistant", "Done\nBye\n\n$ echo COMPLETE"),
    ]
    assert arrival.quarantine.num_rows == 0


@pytest.mark.flash
def test_tool_calls_take_their_own_observations_and_the_raw_answer_is_dropped(deliver: Any) -> None:
    messages = [
        TASK,
        called("both", a="ls", b="pwd"),
        {"role": "tool", "tool_call_id": "b", "content": "/"},
        {"role": "tool", "tool_call_id": "a", "content": "a.py", "extra": {"raw_output": "secret"}},
        called(None, c="submit"),
        {"role": "exit", "content": "diff --git", "extra": {"submission": "secret"}},
    ]
    run = {"trajectory_format": "mini-swe-agent-1.1", "info": {"submission": "secret"}, "messages": messages}
    (arrival,) = deliver("mini-swe-agent", run)
    assert [text for _, text in rows(arrival)][1:] == [
        "both\n\n$ ls\n=>\na.py\n\n$ pwd\n=>\n/",
        "$ submit\n=>\ndiff --git",
    ]


@pytest.mark.flash
def test_the_first_timestamp_is_the_time_of_the_session(deliver: Any) -> None:
    late = {**ACT, "extra": {"timestamp": 1_775_815_399.0}}
    messages = [SYSTEM, TASK, {**ACT, "extra": {"timestamp": 1_775_815_325.5}}, SEEN, late, SEEN]
    (arrival,) = deliver("mini-swe-agent", {"messages": messages, "trajectory_format": "mini-swe-agent-1.1"})
    expected = datetime.fromtimestamp(1_775_815_325.5, UTC)
    assert set(arrival.turns["session_time"].to_pylist()) == {expected}
    assert arrival.requests["asked_at"].to_pylist() == [expected]


@pytest.mark.flash
@pytest.mark.parametrize("timestamp", ["yesterday", True, [1], float("nan"), float("inf"), 1e300, {}])
def test_a_time_that_cannot_be_read_costs_the_run_and_never_becomes_now(deliver: Any, timestamp: Any) -> None:
    messages = [TASK, {**ACT, "extra": {"timestamp": timestamp}}, SEEN]
    (arrival,) = deliver("mini-swe-agent", {"messages": messages})
    assert (arrival.turns.num_rows, arrival.requests.num_rows) == (0, 0)
    assert [(row["code"], row["weight"]) for row in arrival.quarantine.to_pylist()] == [("bad_time", 3)]


@pytest.mark.flash
def test_what_a_person_says_after_an_observation_is_a_turn_and_an_observation_never_is_the_task(deliver: Any) -> None:
    messages = [TASK, ACT, SEEN, {"role": "user", "content": "Now the tests"}, SEEN, ACT, SEEN]
    (arrival,) = deliver("mini-swe-agent", messages)
    assert [role for role, _ in rows(arrival)] == ["user", "assistant", "user", "tool", "assistant"]
    (asked,) = arrival.requests["text"].to_pylist()
    assert asked.startswith("Please solve this\n\nTHOUGHT: look\n\n$ ls\n=>\n")


@pytest.mark.flash
@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "no block"}, "no block"),
        ({"content": "```bash\na\n```\n```bash\nb\n```"}, "```bash\na\n```\n```bash\nb\n```"),
        ({"content": [{"type": "text", "text": "x\n```bash\na\n```"}]}, "x\n\n$ a"),
        ({"content": "say ```bash\na\n```\n```mswea_bash_command\nb\n```"}, "say ```bash\na\n```\n\n$ b"),
        ({"content": "```bash\nnever closed"}, "```bash\nnever closed"),
        ({"content": "x", "extra": {"actions": [{"command": "a"}, {"command": "b"}, 5]}}, "x\n\n$ a\n\n$ b"),
        ({"content": "x", "extra": {"actions": 5}, "tool_calls": None}, "x"),
    ],
)
def test_the_action_is_found_wherever_it_was_logged(deliver: Any, message: Any, text: str) -> None:
    (arrival,) = deliver("mini-swe-agent", [TASK, {"role": "assistant", **message}])
    assert rows(arrival)[1:] == [("assistant", text)]


@pytest.mark.flash
@pytest.mark.parametrize(
    "bad",
    [
        None,
        5,
        "text",
        [],
        {},
        {"role": None},
        {"role": 5},
        {"role": " "},
        {"role": "user", "content": 5},
        {"role": "assistant", "content": {}},
        {"role": "assistant", "tool_calls": 5},
    ],
)
@pytest.mark.parametrize("at", [0, 2, 4])
def test_a_broken_message_costs_itself_only(deliver: Any, bad: Any, at: int) -> None:
    messages = [TASK, ACT, SEEN, ACT, SEEN]
    (arrival,) = deliver("mini-swe-agent", {"messages": [*messages[:at], bad, *messages[at:]]})
    assert arrival.quarantine["place"].to_pylist() == [f"line 1, message {at}"]
    assert [text for role, text in rows(arrival) if role == "assistant"] == [STEP, STEP]


@pytest.mark.flash
@pytest.mark.parametrize("value", [{}, {"messages": 5}, {"messages": [5]}, [5, None], [{"a": 1}], 5])
def test_what_holds_no_messages_is_an_error(value: Any) -> None:
    with pytest.raises(IngestError):
        list(arrivals("mini-swe-agent", [Document.of(io.BytesIO(json.dumps(value).encode()), "x.json")], {}))


@pytest.mark.flash
def test_one_run_a_line_is_read_past_a_broken_line_and_chosen_by_its_task() -> None:
    runs = [{"messages": [TASK, ACT, SEEN], "instance_id": f"task-{number}"} for number in range(3)]
    lines = [json.dumps(run) for run in runs]
    payload = "\n".join([lines[0], "{broken", *lines[1:]]).encode()

    def delivered(**options: Any) -> Any:
        (arrival,) = arrivals("mini-swe-agent", [Document.of(io.BytesIO(payload), "runs.jsonl")], options)
        return arrival

    assert sorted(set(delivered().turns["history_id"].to_pylist())) == ["runs", "runs:3", "runs:4"]
    assert delivered().quarantine["code"].to_pylist() == ["not_json"]
    assert set(delivered(items="task-2").turns["history_id"].to_pylist()) == {"runs:4"}


def test_real_runs_have_a_turn_for_each_action_with_its_observation(real_data: Path, settle_first: Any) -> None:
    files = sorted((real_data / "trajectories" / "mini-swe-agent").glob("*.json"))
    assert len(files) == 2
    for file in files:
        raw = json.loads(file.read_text("utf-8"))
        acts = [at for at, message in enumerate(raw) if message["role"] == "assistant"]
        with file.open("rb") as stream:
            document = Document.of(stream, file.name)
            settled = settle_first(list(arrivals("mini-swe-agent", [document], {"requests": "every-step"})))
        assert settled.turns["role"].to_pylist() == ["system", "user", *["assistant"] * len(acts)]
        assert sorted(settled.requests["request_id"].to_pylist()) == sorted(f"{document.stem}#s{at}" for at in acts)
        assert settled.quarantine.num_rows == 0
        for at, text in zip(acts, settled.turns["text"].to_pylist()[2:], strict=True):
            thought, command, _ = raw[at]["content"].replace("mswea_bash_command", "").split("```")
            assert text == "\n".join(
                [
                    f"{thought.strip()}\n\n$ {command.strip()}",
                    *(["=>", seen] if (seen := raw[at + 1]["content"].strip()) else []),
                ]
            )


@pytest.mark.flash
@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", ["```bash\n", "```bash\n\n", "```bash\na\n```\n", " \n", "<returncode>"])
def test_five_megabytes_of_marks_take_linear_time(deliver: Any, text: str) -> None:
    (arrival,) = deliver(
        "mini-swe-agent", [TASK, {"role": "assistant", "content": text * (5_000_000 // len(text))}, SEEN]
    )
    assert arrival.turns.num_rows == 2

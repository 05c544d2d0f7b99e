"""SWE-agent: steps of `trajectory`, prompts of `history`, demonstrations left out."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from arrived import rows

from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import arrivals
from pipeline.ingest.source import Document

SYSTEM = {"role": "system", "content": "You are a programmer", "agent": "main", "message_type": "system_prompt"}
TASK = {"role": "user", "content": "Fix the issue", "agent": "main", "message_type": "observation"}
DEMO = {"role": "user", "content": "Here is a demonstration", "agent": "main", "is_demo": True}
ACT = {"role": "assistant", "content": "look\n```\nls\n```", "thought": "look\n", "action": "ls\n", "agent": "main"}
SEEN = {"role": "user", "content": "a.py\n(Current directory: /)\nbash-$", "agent": "main"}


def step(action: Any = "ls\n", observation: Any = "a.py\n", thought: Any = "look\n", **more: Any) -> dict[str, Any]:
    return {"action": action, "observation": observation, "response": "", "state": "{}", "thought": thought, **more}


@pytest.mark.flash
def test_prompts_come_once_and_each_step_is_a_turn(deliver: Any) -> None:
    prompt = [SYSTEM, DEMO, TASK]
    steps = [
        step(query=prompt, state={"open_file": "secret"}),
        step("submit", "", "done", messages=[*prompt, ACT, SEEN]),
    ]
    run = {"environment": "main", "trajectory": steps, "history": [*prompt, ACT, SEEN], "info": {"submission": "diff"}}
    (arrival,) = deliver("swe-agent", run)
    assert rows(arrival) == [
        ("system", "You are a programmer"),
        ("user", "Fix the issue"),
        ("assistant", "look\n\n$ ls\n=>\na.py"),
        ("assistant", "done\n\n$ submit"),
    ]
    assert set(arrival.turns["history_id"].to_pylist()) == {"source"}
    assert arrival.turns["session_time"].null_count == 4


@pytest.mark.flash
def test_a_demonstration_in_many_messages_is_left_out_with_its_steps(deliver: Any) -> None:
    demo = [{**message, "is_demo": True} for message in (TASK, ACT, SEEN)]
    (arrival,) = deliver("swe-agent", {"trajectory": [step()], "history": [SYSTEM, *demo, TASK, ACT, SEEN], "info": {}})
    assert [role for role, _ in rows(arrival)] == ["system", "user", "assistant"]


@pytest.mark.flash
def test_without_a_history_the_prompt_is_that_of_the_first_step(deliver: Any) -> None:
    (arrival,) = deliver("swe-agent", {"trajectory": [step(query=[SYSTEM, TASK]), step(query=[SYSTEM, TASK, ACT])]})
    assert [role for role, _ in rows(arrival)] == ["system", "user", "assistant", "assistant"]


@pytest.mark.flash
def test_a_file_with_history_only_pairs_actions_with_what_follows(deliver: Any) -> None:
    call = {"function": {"name": "open", "arguments": '{"path": "a.py", "line": 3}'}, "id": "c1"}
    messages = [
        SYSTEM,
        TASK,
        ACT,
        SEEN,
        {"role": "assistant", "content": None, "tool_calls": [call], "agent": "main"},
        {"role": "tool", "content": [{"type": "text", "text": "3: x"}], "tool_call_ids": ["c1"], "agent": "main"},
        {"role": "assistant", "content": "I give up", "agent": "main"},
    ]
    (arrival,) = deliver("swe-agent", {"history": messages}, requests="every-step")
    assert [text for _, text in rows(arrival)][2:] == [
        "look\n\n$ ls\n=>\na.py\n(Current directory: /)\nbash-$",
        "$ open path=a.py line=3\n=>\n3: x",
        "I give up",
    ]
    assert [row["request_id"] for row in arrival.requests.to_pylist()] == ["source#s2", "source#s4", "source#s6"]


@pytest.mark.flash
def test_the_raw_response_stands_in_where_nothing_was_told_apart(deliver: Any) -> None:
    bad = step("", "no action was found", "", response="I wonder")
    (arrival,) = deliver("swe-agent", {"trajectory": [bad], "info": {}})
    assert rows(arrival) == [("assistant", "I wonder\n\n=>\nno action was found")]


@pytest.mark.flash
def test_the_last_request_names_task_and_newest_step_and_sees_it(deliver: Any, settle_first: Any) -> None:
    run = {"trajectory": [step(), step("cat a.py", "x" * 30_000 + "Error: the end")], "history": [SYSTEM, DEMO, TASK]}
    settled = settle_first(deliver("swe-agent", run))
    (request,) = settled.requests.to_pylist()
    assert request["mode"] == "agent"
    assert request["text"].startswith("Fix the issue\n\nlook\n\n$ cat a.py\n=>\nxxx")
    assert request["text"].endswith("xxxError: the end")
    assert len(request["text"]) < 2_100
    assert (request["seen_session"], request["seen_turn"]) == (0, 3)
    assert settle_first(deliver("swe-agent", run, requests="none")).requests.num_rows == 0


@pytest.mark.flash
@pytest.mark.parametrize("key", ["action", "observation", "thought"])
@pytest.mark.parametrize("value", [5, True, {"a": 1}, [5], float("nan")])
def test_a_step_of_wrong_types_costs_itself_only(deliver: Any, key: str, value: Any) -> None:
    steps = [step(), {**step(), key: value}, "text", None, step("pwd")]
    (arrival,) = deliver("swe-agent", {"trajectory": steps, "history": [SYSTEM, TASK]})
    assert [text for role, text in rows(arrival) if role == "assistant"] == [
        "look\n\n$ ls\n=>\na.py",
        "look\n\n$ pwd\n=>\na.py",
    ]
    assert [(row["place"], row["code"], row["weight"]) for row in arrival.quarantine.to_pylist()] == [
        (f"line 1, step {number}", "bad_turn", 1) for number in (1, 2, 3)
    ]


@pytest.mark.flash
@pytest.mark.parametrize("key", ["action", "observation", "thought", "response", "state"])
@pytest.mark.parametrize("how", ["missing", "null"])
def test_a_step_may_lack_any_key(deliver: Any, key: str, how: str) -> None:
    cut = {**step(), key: None}
    if how == "missing":
        del cut[key]
    (arrival,) = deliver("swe-agent", {"trajectory": [cut], "info": {}})
    assert (arrival.turns.num_rows, arrival.quarantine.num_rows) == (1, 0)


@pytest.mark.flash
@pytest.mark.parametrize("prompts", [None, 5, "text", [], [5, None], [{"role": 5}], [{"role": "user", "content": 5}]])
def test_steps_are_kept_whatever_the_history_is(deliver: Any, prompts: Any) -> None:
    (arrival,) = deliver("swe-agent", {"trajectory": [step()], "history": prompts, "info": 5, "replay_config": []})
    assert arrival.turns.num_rows == 1
    assert arrival.quarantine.num_rows == (0 if prompts in (None, []) else 2 if prompts == [5, None] else 1)


@pytest.mark.flash
@pytest.mark.parametrize("steps", [5, "text", {}, True])
def test_steps_that_are_no_list_are_missed_and_the_prompts_are_kept(deliver: Any, steps: Any) -> None:
    (arrival,) = deliver("swe-agent", {"trajectory": steps, "history": [SYSTEM, TASK]})
    assert [role for role, _ in rows(arrival)] == ["system", "user"]
    assert arrival.quarantine["code"].to_pylist() == ["wrong_shape"]


@pytest.mark.flash
@pytest.mark.parametrize("value", [{}, {"trajectory": 5}, {"history": "x", "trajectory": {}}, {"trajectory": None}, 5])
def test_what_holds_no_run_is_an_error(value: Any) -> None:
    with pytest.raises(IngestError):
        list(arrivals("swe-agent", [Document.of(io.BytesIO(json.dumps(value).encode()), "x.traj")], {}))


@pytest.mark.flash
def test_a_run_is_called_after_its_file_and_chosen_by_its_task_too() -> None:
    run = {"trajectory": [step()], "replay_config": {"problem_statement": {"id": "django__django-1"}}}
    payload = json.dumps(run).encode()

    def delivered(**options: Any) -> list[str]:
        documents = [Document.of(io.BytesIO(payload), f"{model}/django__django-1.traj") for model in ("a", "b")]
        return [
            name
            for arrival in arrivals("swe-agent", documents, options)
            for name in arrival.turns["history_id"].to_pylist()
        ]

    assert delivered() == ["a/django__django-1", "b/django__django-1"]
    assert delivered(items="django__django-1") == ["a/django__django-1", "b/django__django-1"]
    assert delivered(items="b/django__django-1") == ["b/django__django-1"]


def test_real_runs_have_a_turn_for_each_step_and_the_prompts_without_demonstrations(
    real_data: Path, settle_first: Any
) -> None:
    files = sorted((real_data / "trajectories" / "swe-agent").glob("*.traj"))
    assert len(files) == 7
    for file in files:
        raw = json.loads(file.read_text("utf-8"))
        acts = [message for message in raw["history"] if message["role"] == "assistant"]
        steps = raw.get("trajectory") or acts
        with file.open("rb") as stream:
            settled = settle_first(
                list(arrivals("swe-agent", [Document.of(stream, file.name)], {"requests": "every-step"}))
            )
        assert settled.turns["role"].to_pylist() == ["system", "user", *["assistant"] * len(steps)]
        assert sorted(settled.requests["seen_turn"].to_pylist()) == list(range(2, 2 + len(steps)))
        assert (settled.quarantine.num_rows, settled.labels.num_rows) == (0, 0)
        texts = settled.turns["text"].to_pylist()
        for said, text in zip(steps, texts[2:], strict=True):
            assert all(said[key].strip() in text for key in ("thought", "action", "observation") if key in said)
        assert not any(message["content"] in texts for message in raw["history"] if message.get("is_demo"))

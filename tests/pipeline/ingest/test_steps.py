"""The one rendering of an agent's steps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest.messages import MessageError
from pipeline.ingest.steps import Call, Run, call_text, step_text, tool_call_text, tool_calls

pytestmark = pytest.mark.flash


@pytest.mark.parametrize(
    ("thought", "calls", "text"),
    [
        ("why", [Call("ls", observations=["a\nb"])], "why\n\n$ ls\n=>\na\nb"),
        ("why\n", [Call("ls\n", observations=["", " "])], "why\n\n$ ls"),
        (" ", [Call("ls", observations=["\n  1: a\n"])], "$ ls\n=>\n  1: a"),
        ("why", [Call("", observations=["no command"])], "why\n\n=>\nno command"),
        ("", [Call("a", observations=["1"]), Call("b", observations=["2"])], "$ a\n=>\n1\n\n$ b\n=>\n2"),
        ("", [Call("cat a", observations=["x\r\ny\r\n"])], "$ cat a\n=>\nx\r\ny"),
        ("", [Call("")], ""),
    ],
)
def test_a_step_is_thought_action_and_observation_and_what_is_absent_leaves_no_mark(
    thought: str, calls: list[Call], text: str
) -> None:
    assert step_text(thought, calls) == text


@given(*[st.text(st.characters(categories=("L", "N", "P"), include_characters=" \n"), min_size=1)] * 3)
def test_the_texts_of_a_step_stand_in_it_verbatim(thought: str, action: str, observation: str) -> None:
    text = step_text(thought, [Call(action, observations=[observation])])
    assert all(part.strip() in text for part in (thought, action, observation))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"command": "ls -la"}, "ls -la"),
        ({"command": "ls\npwd", "is_input": False, "timeout": None, "extra": ""}, "ls\npwd"),
        ({"code": "1 + 1"}, "1 + 1"),
        ({"command": "view", "path": "/a", "view_range": [1, 2]}, "edit command=view path=/a view_range=[1, 2]"),
        ({"path": "/a", "text": "x\ny"}, "edit path=/a\ntext:\nx\ny"),
        ({"n": 0, "on": True, "none": None, "no": [], "deep": {"ä": 1}}, 'edit n=0 on=true deep={"ä": 1}'),
        ({}, "edit"),
    ],
)
def test_a_call_is_its_command_or_its_name_and_arguments(arguments: dict[str, Any], text: str) -> None:
    assert call_text("edit", arguments) == text
    assert tool_call_text({"function": {"name": "edit", "arguments": arguments}}) == text


def test_arguments_that_are_no_json_object_stand_as_written() -> None:
    assert tool_call_text({"name": "go", "arguments": "{broken"}) == "go {broken"
    assert tool_call_text({"name": "go", "arguments": '{"a": "b"}'}) == "go a=b"
    assert tool_call_text({"name": "go", "arguments": 5}) == "go"


@pytest.mark.parametrize("calls", [5, "text", {"a": 1}, [5], [{}], [{"function": {"name": 5}}], [{"name": None}]])
def test_calls_that_are_none_are_refused(calls: Any) -> None:
    with pytest.raises(MessageError):
        tool_calls({"tool_calls": calls})


def test_a_step_is_under_way_until_something_comes_of_all_that_it_did_or_is_said_since() -> None:
    run = Run()
    assert not run.under_way()
    run.act(0, "thought", [Call("")])
    assert not run.under_way()
    run.act(1, "", [Call("one", ["a"]), Call("two", ["b"])])
    run.observe(2, "of two", ["b"])
    assert run.under_way()
    run.observe(3, "", ["a"])
    assert not run.under_way()
    run.act(4, "", [Call("three")])
    run.say(5, "user", "stop")
    assert not run.under_way()


def test_observations_find_their_call_by_name_whatever_the_order() -> None:
    run = Run()
    run.act(0, "both", [Call("one", ["a"]), Call("two", ["b"])])
    run.act(1, "third", [Call("three", ["c"])])
    run.observe(2, "of two", ["b"])
    run.observe(3, "of three", ["unknown", "c"])
    run.observe(4, "of one", ["a"])
    run.observe(5, "of nothing", ["unknown"])
    assert [(turn.position, turn.role, turn.text) for turn in run.turns()] == [
        (0, "assistant", "both\n\n$ one\n=>\nof one\n\n$ two\n=>\nof two"),
        (1, "assistant", "third\n\n$ three\n=>\nof three"),
        (5, "tool", "of nothing"),
    ]


def test_an_observation_without_a_name_belongs_to_the_newest_step_that_waits_and_to_no_older_one() -> None:
    run = Run()
    run.act(0, "", [Call("one")])
    run.observe(1, "first")
    run.observe(2, "second")
    run.act(3, "", [Call("two")])
    run.say(4, "user", "stop")
    run.observe(5, "late")
    assert [turn.text for turn in run.turns()] == ["$ one\n=>\nfirst", "second", "$ two", "stop", "late"]

"""The text of messages: what was said and called, in every shape of chat APIs."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.ingest.messages import MessageError, content_text, message_text

pytestmark = pytest.mark.flash


def nested(depth: int) -> Any:
    content: Any = "deep"
    for _ in range(depth):
        content = [{"type": "tool_result", "content": content}]
    return content


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("words", "words"),
        ([], ""),
        (["a", None, {"type": "text", "text": "b"}, {"type": "text", "text": None}, {"type": "output_text"}], "a\nb"),
        ([{"type": "text", "text": {"value": "v", "annotations": []}}], "v"),
        ([{"type": "image_url", "image_url": {"url": "data:..."}}, {"type": "text", "text": "look"}], "[image]\nlook"),
        ([{"type": kind} for kind in ("input_audio", "input_file", "document", "video_url")], None),
        ([{"content_type": "image_asset_pointer"}, {"type": "x"}, {}], "[image]\n[attachment]\n[attachment]"),
        ([{"type": "thinking", "thinking": "hm", "text": "hm"}, {"type": "reasoning"}, "said"], "said"),
        ([{"type": "refusal", "refusal": "No."}], "No."),
        ([{"type": "tool_use", "id": "1", "name": "run", "input": {"c": "ä"}}], 'run({"c": "ä"})'),
        ([{"type": "tool_result", "content": [{"type": "text", "text": "out"}]}], "out"),
        (nested(3), "deep"),
    ],
)
def test_content_is_read_in_every_shape(content: Any, text: str | None) -> None:
    assert content_text(content) == ("[audio]\n[file]\n[document]\n[video]" if text is None else text)


@pytest.mark.parametrize("content", [5, True, {"text": "x"}, [5], [["x"]], [{"type": "text", "text": 5}], nested(50)])
def test_content_that_is_none_of_them_is_refused_without_being_quoted(content: Any) -> None:
    with pytest.raises(MessageError) as caught:
        content_text(content)
    assert "deep'" not in str(caught.value)
    assert len(str(caught.value)) < 100


def test_calls_follow_the_content_with_names_and_arguments() -> None:
    calls = [
        {"id": "1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}},
        {"id": "2", "type": "custom", "custom": {"name": "sh", "input": "ls"}},
        {"name": "bare", "arguments": {"a": [1]}},
        {"function": {"name": "none"}},
    ]
    message = {"content": "I look.", "tool_calls": calls, "function_call": {"name": "old", "arguments": ""}}
    assert message_text(message).split("\n") == [
        "I look.",
        'look({"at": 1})',
        "sh(ls)",
        'bare({"a": [1]})',
        "none()",
        "old()",
    ]
    assert message_text({"content": None, "tool_calls": calls[1:2]}) == "sh(ls)"


def test_what_is_refused_or_spoken_is_text() -> None:
    assert message_text({"content": None, "refusal": "I cannot."}) == "I cannot."
    assert message_text({"content": None, "audio": {"id": "a", "data": "UklG", "transcript": "Hello"}}) == "Hello"
    assert message_text({"role": "user"}) == ""


@pytest.mark.parametrize("calls", ["x", {"a": 1}, [5], [{}], [{"function": {"name": " "}}], [{"function": None}]])
def test_calls_that_are_none_are_refused(calls: Any) -> None:
    with pytest.raises(MessageError, match="tool"):
        message_text({"content": "x", "tool_calls": calls})


def test_arguments_nested_without_end_are_refused() -> None:
    deep: Any = {}
    for _ in range(5000):
        deep = {"a": deep}
    with pytest.raises(MessageError, match="nested"):
        message_text({"tool_calls": [{"name": "f", "arguments": deep}]})

"""JSON is read out of what a model says, and what was cut short loses no more than what was being written."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.llm.json_text import DEEPEST, read_json

pytestmark = pytest.mark.flash

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
LEAVES = TEXTS | st.integers(-9, 999) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none()
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8
)
DOCUMENTS = st.lists(VALUES, max_size=4) | st.dictionaries(TEXTS, VALUES, max_size=4)


def part_of(cut: Any, whole: Any) -> bool:
    """Whether a value is another one without some of its last items."""
    if isinstance(cut, dict):
        return isinstance(whole, dict) and all(key in whole and part_of(cut[key], whole[key]) for key in cut)
    if isinstance(cut, list):
        return isinstance(whole, list) and len(cut) <= len(whole) and all(map(part_of, cut, whole))
    return type(cut) is type(whole) and cut == whole


def within(value: Any) -> Iterator[Any]:
    """A value and all that it holds."""
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from within(inner)


@given(DOCUMENTS, st.booleans(), st.sampled_from([None, 1]))
def test_a_whole_value_is_read_as_it_is_and_out_of_a_fence(value, escaped, indent):
    text = json.dumps(value, ensure_ascii=escaped, indent=indent)
    assert read_json(f" {text}\n") == (value, "whole")
    assert read_json(f"Here you are:\n```json\n{text}\n```\nDone.") == (value, "fenced")
    assert read_json(f"I say {text} and no more.") == (value, "fenced")


@given(DOCUMENTS, st.data(), st.sampled_from(["", "```json\n", "Sure! "]))
def test_every_prefix_gives_nothing_or_part_of_the_value(value, data, before):
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    found = read_json(before + cut)
    if found.value is None:
        assert found.how == "none"
    else:
        assert found.how == "salvaged"
        assert part_of(found.value, value)


def test_of_a_cut_list_only_what_was_being_written_is_lost():
    whole = {"summary": 'a "b", {c', "facts": [{"text": "one", "turn": 1}, {"text": "two", "turn": 2}]}
    text = json.dumps(whole)
    two = text.index('{"text": "two"')
    assert read_json(text[: two + 10]).value == {**whole, "facts": whole["facts"][:1]}
    assert read_json(text[:-4]).value == {**whole, "facts": [whole["facts"][0], {"text": "two"}]}
    assert read_json(text[:-1]) == (whole, "salvaged")


def test_a_list_of_which_nothing_came_is_not_an_empty_list():
    assert read_json('{"facts": [') == (None, "none")
    assert read_json('{"n": 1, "facts": [{').value == {"n": 1}
    assert read_json('{"facts": []').value == {"facts": []}


def test_a_number_that_may_go_on_is_not_taken():
    assert read_json("[1, 23").value == [1]
    assert read_json("[1, 23\n").value == [1, 23]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('By [1] and {so on}: {"a": 1, "b": [2]}.', {"a": 1, "b": [2]}),
        ('```json\n{"a": [1, 2\n```\nI hope this helps.', {"a": [1, 2]}),
        ('```\n{"code": "```py\\nx\\n```"}\n```', {"code": "```py\nx\n```"}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        ('First {"a": 1}; better {"a": 1, "b": 2}', {"a": 1, "b": 2}),
    ],
)
def test_what_models_put_around_and_into_json_is_seen_through(text, value):
    assert read_json(text).value == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "12",
        '"text"',
        "null",
        "}",
        "{]",
        "[1, 2,]",
        "{'a': 1}",
        '{"a": NaN}',
        '{"a": oops, "b": {"c": 1}}',
        '{"a": "x" y", "c": {"d": 1}}',
        "I cannot help with that.",
        "[" * 200 + "]" * 200,
        '{"a": 1 "b": 2}',
    ],
)
def test_what_is_wrong_is_not_mended(text):
    assert read_json(text) == (None, "none")


def test_depth_is_bounded():
    assert read_json("[" * DEEPEST + "]" * DEEPEST).how == "whole"
    assert read_json("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)).how == "none"


@given(DOCUMENTS)
def test_lone_surrogates_that_escapes_name_are_replaced(value):
    found = read_json(json.dumps([value, "\ud83d"]))
    assert found.value == [value, "\ufffd"]
    assert all(not isinstance(each, str) or each.encode() is not None for each in within(found.value))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 1_000_000,
        '{"a":"' + "x" * 1_000_000,
        "[1," * 100_000,
        '{"a":' * 200_000,
        '"' * 1_000_000,
        '{"' * 100_000,
        "[1] " * 60_000,
        '["\\' * 80_000,
        "[{" * 100_000,
        "[" + "1" * 1_000_000,
        "[\n" * 100_000,
        "[" + " " * 1_000_000,
        "[ " + "`" * 1_000_000,
        '[["a",' * 30 + '"b",' * 60_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_much_is_read_in_a_moment(text):
    started = time.process_time()
    read_json(text)
    assert time.process_time() - started < 5

"""JSON is read out of what a model says, and what was cut short loses no more than its last item."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.llm.json_text import read_json

pytestmark = pytest.mark.flash

leaves = st.one_of(st.text(max_size=6), st.integers(-9, 99), st.booleans(), st.none())
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=4), values, max_size=4)


def part_of(cut: object, whole: object) -> bool:
    """Whether a value is another one without some of its last items."""
    if isinstance(cut, dict):
        return isinstance(whole, dict) and all(key in whole and part_of(cut[key], whole[key]) for key in cut)
    if isinstance(cut, list):
        return isinstance(whole, list) and len(cut) <= len(whole) and all(map(part_of, cut, whole))
    return cut == whole


@given(objects)
def test_a_whole_object_is_read_as_it_is(value):
    assert read_json(json.dumps(value)) == (value, "whole")
    assert read_json(f"Here you are:\n```json\n{json.dumps(value)}\n```\nDone.") == (value, "found")


@given(objects, st.data())
def test_what_is_left_of_a_cut_object_is_part_of_it(value, data):
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(0, len(text)))]
    found = read_json(cut)
    assert found.how == "none" or part_of(found.value, value)


def test_a_cut_list_keeps_all_but_its_last_item():
    whole = {"summary": 'a "b" , c', "facts": [{"text": "one"}, {"text": "two"}, {"text": "three"}]}
    text = json.dumps(whole)
    assert read_json(text[:-4]) == (
        {"summary": whole["summary"], "facts": [{"text": "one"}, {"text": "two"}, {}]},
        "salvaged",
    )
    assert read_json(text[: text.index('"three')]).value["facts"] == [{"text": "one"}, {"text": "two"}, {}]


@pytest.mark.parametrize(
    "text", ["", "no", "12", '"text"', "{]", "}", "[" * 200, '{"a": "b', "I cannot help with that."]
)
def test_what_holds_no_object_gives_none_that_says_anything(text):
    assert read_json(text).value in (None, {}, [])


@pytest.mark.parametrize(
    "text", ["[" * 1_000_000, '{"a":"' + "x" * 1_000_000, "[1," * 300_000, '["a",' * 30 + '"b",' * 300_000]
)
def test_a_megabyte_is_read_in_a_moment(text):
    started = time.process_time()
    read_json(text)
    assert time.process_time() - started < 5

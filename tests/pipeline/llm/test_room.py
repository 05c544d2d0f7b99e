"""Prompts take as many parts as a context holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import ScriptedModel

from models.interfaces import Prompt
from pipeline.llm.room import InParts, fitted

pytestmark = pytest.mark.flash


@given(st.lists(st.integers(0, 60), max_size=4), st.integers(1, 120))
def test_each_prompt_has_the_most_parts_that_leave_room_for_its_answer(sizes, context):
    model = ScriptedModel(lambda _: "", context)
    made = lambda parts: Prompt("", "word" * parts, 10)  # noqa: E731
    for size, found in zip(sizes, fitted(model, [InParts(made, size) for size in sizes]), strict=True):
        # A token is four characters, and there is one more.
        assert found.parts == max(min(size, context - 11), 0)
        assert found.prompt == made(found.parts)


def test_nothing_asked_counts_nothing():
    assert fitted(ScriptedModel(lambda _: ""), []) == []

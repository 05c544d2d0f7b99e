"""A text that says one thing over and over is told from one that has a list or a refrain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.llm.loops import loops

pytestmark = pytest.mark.flash

words = st.lists(st.text("abcdefgh", min_size=1, max_size=5), min_size=1, max_size=8)


@given(words, words, st.integers(6, 12))
def test_a_span_that_goes_on_and_on_is_found_after_any_beginning_and_in_any_case(start, span, times):
    text = " ".join([*start, *(span * times)])
    if len(span) * times >= 16 and len(start) <= len(span) * times:
        assert loops(text)
        assert loops(text.upper())


@pytest.mark.parametrize(
    "text",
    [
        "I'm so glad you're here. " + "I'm glad you're here. " * 12 + "I'm glad",
        "the the the the the the the the the the the the the the the the",
        "Caroline said that she went to the park and " + "then to the shop, " * 8,
    ],
)
def test_answers_of_a_small_model_that_loop_are_found(text):
    assert loops(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes yes yes yes",
        "Melanie painted a sunrise in 2022, and Caroline liked the blue of it; they spoke of their children.",
        "Read a.py (12 lines). Read b.py (40 lines). Read c.py (7 lines). Ran tests: 2 failed, 30 passed.",
        "Monday run 5 km, Tuesday run 6 km, Wednesday rest, Thursday run 5 km, Friday run 8 km, Saturday swim",
    ],
)
def test_records_with_lists_are_no_loops(text):
    assert not loops(text)

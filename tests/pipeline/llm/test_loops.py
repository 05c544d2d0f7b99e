"""A text that says one thing over and over to its end is told from one that has a list or a refrain."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.llm.loops import loops

pytestmark = pytest.mark.flash

WORDS = st.lists(st.text("abcdefgh", min_size=1, max_size=5), min_size=1, max_size=12).map(" ".join)


@given(WORDS, WORDS, st.data())
def test_a_span_that_goes_on_to_the_end_is_found_wherever_it_begins_and_is_cut(start, span, data):
    repeated = f"{span} " * (200 // len(span) + 5)
    cut = data.draw(st.integers(0, len(span)))
    text = start + " " + repeated[: len(repeated) - cut]
    assert loops(text)
    assert loops(text.upper().replace(" ", "\n"))


@pytest.mark.parametrize(
    "text",
    [
        "I'm so glad you're here. " + "I'm glad you're here. " * 12 + "I'm glad",
        "".join(f"{number}. The user likes tea.\n" for number in range(1, 20)),
        '{"facts": ["Caroline went to the park", ' + ", ".join(['"Caroline likes the park"'] * 9) + "]}",
        "She thought for a while. " + "ha" * 100,
        "结果" * 80,
        "A long thought of a hundred and fifty characters or more that is said again without any change at all, by a "
        "model that cannot find its end, and so goes on. " * 3,
    ],
)
def test_answers_that_loop_are_found(text):
    assert loops(text)


TABLE = "| day | km | with |\n|-----|-----|-----|\n" + "".join(
    f"| {day} | {len(day)} | Melanie |\n" for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes yes yes yes",
        "no, no, no, no, no, no, no, no!",
        "Melanie painted a sunrise in 2022, and Caroline liked the blue of it; they spoke of their children.",
        "Read a.py (12 lines). Read b.py (40 lines). Read c.py (7 lines). Ran tests: 2 failed, 30 passed. Read a.py.",
        "Monday run 5 km, Tuesday run 6 km, Wednesday rest, Thursday run 5 km, Friday run 8 km, Saturday swim",
        TABLE,
        "\n".join(f"- Caroline went to see number {number}" for number in ("one", "two", "three", "four", "five")),
        "Results\n" + "=" * 80 + "\n" + TABLE,
        '{"scores": [' + ", ".join(str(number * number % 101) for number in range(100)) + "]}",
        "Row, row, row your boat, gently down the stream. Merrily, merrily, merrily, merrily, life is but a dream.",
    ],
)
def test_lists_tables_and_refrains_are_no_loops(text):
    assert not loops(text)


def test_a_loop_that_the_model_left_is_none():
    assert not loops("I am glad. " * 20 + "Then they went home, and what they said there was of quite another kind.")


@pytest.mark.parametrize("text", ["a" * 1_000_000, "\n" * 1_000_000, "ab " * 300_000 + "c", "- " * 500_000])
def test_a_megabyte_is_read_in_a_moment(text):
    started = time.process_time()
    loops(text)
    assert time.process_time() - started < 10

"""Spans are the text, in order, within their tokens, and cut at lines where lines are short enough."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.tokens import token_counter
from pipeline.units.spans import Span, spans_within

pytestmark = pytest.mark.flash

COUNTER = token_counter("o200k_base")
LINES = st.lists(st.text(st.sampled_from("ab .,\t日\U0001f9d1é"), max_size=60), max_size=12).map("\n".join)


@given(LINES, st.integers(1, 40))
@settings(max_examples=300, deadline=None)
def test_they_follow_each_other_and_together_are_the_text(text: str, limit: int) -> None:
    spans = spans_within(text, limit, COUNTER)
    assert "".join(text[span.start : span.end] for span in spans) == text
    assert [span.start for span in spans[1:]] == [span.end for span in spans[:-1]]
    assert all(span.start < span.end for span in spans)


@given(LINES, st.integers(1, 40))
@settings(max_examples=300, deadline=None)
def test_none_has_more_tokens_than_the_limit_but_a_single_character(text: str, limit: int) -> None:
    for start, end, n_tokens in spans_within(text, limit, COUNTER):
        assert n_tokens == COUNTER.count(text[start:end])
        assert n_tokens <= limit or end - start == 1


@given(LINES, st.integers(1, 40))
@settings(max_examples=300, deadline=None)
def test_a_cut_within_a_line_is_in_a_line_that_does_not_fit(text: str, limit: int) -> None:
    for span in spans_within(text, limit, COUNTER)[1:]:
        if text[span.start - 1] != "\n":
            line = text.rfind("\n", 0, span.start) + 1
            end = text.find("\n", span.start)
            assert COUNTER.count(text[line : len(text) if end < 0 else end + 1]) > limit


@given(LINES, st.integers(1, 40))
@settings(max_examples=300, deadline=None)
def test_each_takes_as_many_whole_lines_as_fit(text: str, limit: int) -> None:
    spans = spans_within(text, limit, COUNTER)
    for span, following in pairwise(spans):
        end = text.find("\n", following.start)
        line_end = len(text) if end < 0 else end + 1
        lines = [COUNTER.count(line) for line in text[span.start : line_end].splitlines(keepends=True)]
        if span.start == 0 or text[span.start - 1] == "\n":
            assert sum(lines) > limit or max(lines) > limit


def test_a_text_that_fits_is_one_span_and_an_empty_one_none() -> None:
    assert spans_within("one line\nand two", 100, COUNTER) == [Span(0, 16, 5)]
    assert spans_within("", 1, COUNTER) == []


def test_long_lines_are_cut_between_words_and_long_words_between_characters() -> None:
    assert _texts("first line here\nsecond", 2) == ["first line", " here\n", "second"]
    assert "".join(_texts("x" * 500, 3)) == "x" * 500
    assert len(_texts("x" * 500, 3)) > 10


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 0 tokens"):
        spans_within("a", 0, COUNTER)


def _texts(text: str, limit: int) -> list[str]:
    return [text[span.start : span.end] for span in spans_within(text, limit, COUNTER)]

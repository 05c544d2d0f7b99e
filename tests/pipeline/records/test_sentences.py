"""Sentences are verbatim parts of their text, in any script, of bounded length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.sentences import sentences

pytestmark = pytest.mark.flash


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I met Dr. Ana at 3.5 km. She ran!", ["I met Dr. Ana at 3.5 km.", "She ran!"]),
        ("Look at this [a photo of a dog]", ["Look at this", "[a photo of a dog]"]),
        ("- one\n2. two\n### three", ["one", "two", "three"]),
        ("昨日行きました。楽しかった！", ["昨日行きました。", "楽しかった！"]),
        ('He said "go." Then left', ['He said "go."', "Then left"]),
        ("  \n\n ", []),
    ],
)
def test_they_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    assert [sentence.text for sentence in sentences(text)] == expected


@given(st.text(st.sampled_from("aB .!?\n-[]。、日1'\""), max_size=1500))
def test_they_are_parts_of_the_text_in_order(text: str) -> None:
    end = 0
    for sentence in sentences(text):
        assert sentence.start >= end
        assert text[sentence.start :].startswith(sentence.text)
        assert 0 < len(sentence.text) <= 320
        end = sentence.start + len(sentence.text)

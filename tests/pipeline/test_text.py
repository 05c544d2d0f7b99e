"""Sanitising leaves valid UTF-8 without NUL, and touches nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text import sanitise_name, sanitise_text

any_text = st.text(st.one_of(st.characters(), st.characters(categories=["Cs"]), st.just("\x00")))


@pytest.mark.flash
@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udc00\ud800", "\ufffd\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("cut at its end \ud83d", "cut at its end \ufffd"),
        ("a\x00b", "ab"),
        ("\x00", ""),
    ],
)
def test_surrogates_are_joined_or_replaced_and_nul_goes(text: str, clean: str) -> None:
    assert sanitise_text(text) == clean


@pytest.mark.flash
@pytest.mark.parametrize(
    "text", ["", "plain", "<|endoftext|>", "שלום مرحبا", "👩‍👩‍👧 e\u0301", "\ufffd", "\ufeffx", "a\nb\t"]
)
def test_harmless_text_is_the_same_object(text: str) -> None:
    assert sanitise_text(text) is text


@given(any_text)
def test_clean_text_is_utf8_without_nul_and_stays_as_it_is(text: str) -> None:
    clean = sanitise_text(text)
    assert clean.encode("utf-8").decode("utf-8") == clean
    assert "\x00" not in clean
    assert sanitise_text(clean) is clean


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_valid_text_is_never_changed(text: str) -> None:
    assert sanitise_text(text) == text


@given(any_text, any_text)
def test_ids_that_differ_are_no_other_id_once_they_are_valid(one: str, other: str) -> None:
    names = [name.replace("\\", "") for name in (one, other)]
    clean = [sanitise_name(name) for name in names]
    assert (clean[0] == clean[1]) == (_characters(names[0]) == _characters(names[1]))
    assert sanitise_text(clean[0]) is clean[0]
    assert (clean[0] is names[0]) == (sanitise_text(names[0]) is names[0])


def _characters(name: str) -> bytes:
    """Two surrogates that form a pair are the character that they stand for."""
    return name.encode("utf-16-le", "surrogatepass")

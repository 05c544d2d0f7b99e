from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.recall.analyzer import analyze


def terms_of(*texts: str) -> list[list[str]]:
    return analyze(pl.Series(list(texts), dtype=pl.String)).to_list()


@pytest.mark.flash
@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The dogs were RUNNING, running!", ["dog", "run", "run"]),
        ("John's sister doesn’t know we're here", ["john", "sister", "know"]),
        ("O'Brien met the students' teacher", ["o'brien", "met", "student", "teacher"]),
        ("parse_json_2 cost 3.50 in 2023", ["pars", "json", "2", "cost", "3", "50", "2023"]),
        ("ﬁne Ｗｉｄｅ cafe\u0301", ["fine", "wide", "café"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("... !!! 🙂", []),
        ("the and of", []),
        ("", []),
    ],
)
def test_words_are_folded_stopped_and_stemmed(text: str, terms: list[str]) -> None:
    assert terms_of(text) == [terms]


@pytest.mark.flash
@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("我喜歡爬山", ["我", "我喜", "喜", "喜歡", "歡", "歡爬", "爬", "爬山", "山"]),
        ("山", ["山"]),
        ("コーヒーが好き", ["コー", "ーヒ", "ヒー", "ーが", "が好", "好", "好き"]),
        ("ไทย", ["ไท", "ทย"]),
        ("use東京now", ["use", "東", "東京", "京"]),
        ("山山山", ["山", "山山", "山", "山山", "山"]),
    ],
)
def test_scripts_without_spaces_become_pairs_of_characters(text: str, terms: list[str]) -> None:
    assert terms_of(text) == [terms]


def test_words_of_spaced_scripts_stay_whole_beside_pairs_in_order() -> None:
    assert terms_of("Kyoto 京都 trip 京都") == [["kyoto", "京", "京都", "都", "trip", "京", "京都", "都"]]


def test_no_texts_have_no_terms() -> None:
    empty = analyze(pl.Series([], dtype=pl.String))
    assert empty.to_list() == []
    assert empty.dtype == pl.List(pl.String)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=6))
def test_a_text_has_the_same_terms_alone_and_among_others(texts: list[str]) -> None:
    assert terms_of(*texts) == [terms_of(text)[0] for text in texts]

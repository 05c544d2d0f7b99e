from __future__ import annotations

import polars as pl
import pytest

from pipeline.recall.languages import LANGUAGES
from pipeline.recall.stems import stems


def terms_of(language: str | None, *words: str) -> list[tuple[str, str]]:
    frame = pl.DataFrame({"token": words, "language": pl.Series([language] * len(words), dtype=LANGUAGES)})
    return sorted(stems(frame).select("token", "term").iter_rows())


@pytest.mark.flash
def test_a_word_of_english_or_of_a_script_of_its_own_has_one_term() -> None:
    assert terms_of("english", "running") == [("running", "run")]
    assert terms_of("russian", "собаки") == [("собаки", "собак")]


@pytest.mark.flash
def test_a_word_of_a_language_that_shares_its_script_has_the_english_term_too_where_it_differs() -> None:
    assert terms_of("german", "häuser", "hund") == [("hund", "hund"), ("häuser", "haus"), ("häuser", "häuser")]


@pytest.mark.flash
def test_stop_words_are_those_of_the_language_and_what_english_stops_has_no_english_term() -> None:
    assert terms_of("english", "on", "ile") == [("ile", "ile")]
    assert terms_of("turkish", "ile") == []
    assert terms_of("spanish", "having") == [("having", "having")]


@pytest.mark.flash
def test_the_ending_of_a_turkish_name_goes_with_its_apostrophe() -> None:
    assert ("izmir'de", "izmir") in terms_of("turkish", "izmir'de")


@pytest.mark.flash
def test_a_word_without_a_language_is_its_own_term() -> None:
    assert terms_of(None, "שלום", "2023") == [("2023", "2023"), ("שלום", "שלום")]
    assert terms_of(None) == []


@pytest.mark.parametrize("language", LANGUAGES.categories)
def test_every_language_has_a_stemmer(language: str) -> None:
    assert {word for word, _ in terms_of(language, "xyz")} == {"xyz"}

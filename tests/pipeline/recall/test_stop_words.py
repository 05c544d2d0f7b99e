from __future__ import annotations

import pytest
import Stemmer

from pipeline.recall.stop_words import STOP_LISTS, stop_words


@pytest.mark.flash
@pytest.mark.parametrize("language", sorted(STOP_LISTS))
def test_a_list_holds_lower_case_words_of_a_language_with_a_stemmer_each_once_and_no_comment(language: str) -> None:
    words = stop_words(language).to_list()
    assert len(words) > 40
    assert len(set(words)) == len(words)
    assert all(word == word.lower() and word.replace("'", "").isalpha() for word in words)
    assert language in Stemmer.algorithms()


@pytest.mark.flash
def test_a_language_without_a_list_has_no_stop_words() -> None:
    assert stop_words("polish").to_list() == []

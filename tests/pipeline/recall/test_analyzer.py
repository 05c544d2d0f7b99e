from __future__ import annotations

from itertools import chain

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.recall.analyzer import analyze, analyze_words


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
        ("קפה שחור 2nd", ["קפה", "שחור", "2nd"]),
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
        ("강아지의", ["강아", "아지", "지의"]),
    ],
)
def test_scripts_without_spaces_and_hangul_become_pairs_of_characters(text: str, terms: list[str]) -> None:
    assert terms_of(text) == [terms]


def test_words_of_spaced_scripts_stay_whole_beside_pairs_in_order() -> None:
    assert terms_of("Kyoto 京都 trip 京都") == [["kyoto", "京", "京都", "都", "trip", "京", "京都", "都"]]


@pytest.mark.flash
@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Die Häuser waren alle größer.", ["haus", "häuser", "gross", "größer"]),
        ("Il dottore dell'ospedale dove lavoriamo è arrivato", ["dottor", "ospedal", "lavor", "arriv"]),
        ("L’école qu'il aime", ["écol", "aim"]),
        ("¿Cuáles son las bicicletas?", ["cual", "biciclet"]),
        ("Где же мои собаки?", ["собак"]),
        ("İstanbul'da çok köpeğim var", ["istanbul", "köpek"]),
        ("Οι σκύλοι", ["σκυλ"]),
        ("किताबें", ["किताब"]),
        ("الكتاب", ["كتاب"]),
    ],
)
def test_words_of_another_language_are_stopped_and_stemmed_as_its_own(text: str, terms: list[str]) -> None:
    (found,) = terms_of(text)
    assert [term for term in found if term in terms] == terms
    stopped = ["die", "waren", "alle", "il", "dell", "dove", "è", "l", "qu", "son", "las", "где", "же", "мои", "çok"]
    assert set(stopped).isdisjoint(found)


@pytest.mark.flash
def test_a_word_before_an_apostrophe_is_kept_in_english() -> None:
    assert terms_of("all's well, rock'n'roll isn't D'Angelo") == [["all", "well", "rock'n'rol", "angelo"]]


def test_no_texts_have_no_terms() -> None:
    empty = analyze(pl.Series([], dtype=pl.String))
    assert empty.to_list() == []
    assert empty.dtype == pl.List(pl.String)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=6))
def test_a_text_has_the_same_terms_alone_and_among_others(texts: list[str]) -> None:
    assert terms_of(*texts) == [terms_of(text)[0] for text in texts]


WORDS = ["hund", "katzen", "größe", "école", "chats", "perros", "amici", "cães", "musik", "running", "köpekler", "psy"]
STOPPED = ["der", "die", "und", "nicht", "les", "est", "que", "las", "che", "il", "os", "não", "het", "the", "of", "on"]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(WORDS + STOPPED), min_size=1, max_size=8), st.sampled_from(WORDS))
def test_a_word_is_found_by_itself_in_any_text_whatever_languages_they_are_told_to_be(
    others: list[str], word: str
) -> None:
    asked, said = terms_of(word, " ".join([*others, word]))
    assert not set(asked).isdisjoint(said)


SPOKEN = [
    "Wann haben wir die Dokumentationen der Brücken gelesen und wer hat sie geschrieben?",
    "¿Cuándo se fueron los niños a la casa de la abuela?",
    "When did the children go to their grandmother's houses?",
    "Когда дети уехали к бабушке?",
]


@pytest.mark.flash
@settings(deadline=None)
@given(st.lists(st.sampled_from(SPOKEN), min_size=1, max_size=4))
def test_words_one_by_one_have_the_terms_that_they_have_in_their_text(texts: list[str]) -> None:
    words = [(place, word) for place, text in enumerate(texts) for word in text.strip("¿?").split()]
    places, alone = pl.Series([place for place, _ in words]), pl.Series([word for _, word in words])
    found = analyze_words(pl.Series(texts), alone, places).to_list()
    for place, terms in enumerate(terms_of(*texts)):
        of_text = [one for one, (at, _) in zip(found, words, strict=True) if at == place]
        assert list(chain.from_iterable(of_text)) == terms


@pytest.mark.flash
def test_a_stop_word_of_another_language_has_no_term_in_its_text() -> None:
    (german, english) = (SPOKEN[0], SPOKEN[2])
    words = pl.Series(["die", "der", "die", "the"])
    found = analyze_words(pl.Series([german, english]), words, pl.Series([0, 0, 1, 1])).to_list()
    assert found == [[], [], ["die"], []]

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.ingest.formats import arrivals
from pipeline.ingest.source import Document
from pipeline.recall.languages import LANGUAGES, languages


def told(*texts: str) -> list[list[str | None]]:
    """The language of each word of each text."""
    split = pl.Series("token", [re.findall(r"[\w']+", text.lower()) for text in texts], dtype=pl.List(pl.String))
    words = pl.DataFrame({"row": range(len(texts)), "token": split}).explode("token").drop_nulls()
    found = words.with_columns(languages(words).cast(pl.String)).group_by("row", maintain_order=True).agg("language")
    by_row = dict(found.iter_rows())
    return [by_row.get(row, []) for row in range(len(texts))]


@pytest.mark.flash
@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where did we put the keys", "english"),
        ("ok thanks", "english"),
        ("Wo haben wir die Schlüssel hingelegt", "german"),
        ("Où avons nous mis les clés", "french"),
        ("Dónde pusimos las llaves", "spanish"),
        ("Onde é que pusemos as chaves", "portuguese"),
        ("Dove abbiamo messo le chiavi", "italian"),
        ("Waar hebben we de sleutels gelaten", "dutch"),
        ("Var har vi lagt nycklarna", "swedish"),
        ("Mihin laitoimme avaimet", "finnish"),
        ("Hová tettük a kulcsokat", "hungarian"),
        ("Anahtarları nereye koyduk", "turkish"),
        ("Gdzie położyliśmy klucze", "polish"),
        ("Kam jsme dali klíče", "czech"),
        ("Unde am pus cheile", "romanian"),
        ("Di mana kita menaruh kuncinya", "indonesian"),
        ("Куда мы положили ключи", "russian"),
        ("Πού βάλαμε τα κλειδιά", "greek"),
        ("أين وضعنا المفاتيح", "arabic"),
        ("हमने चाबियाँ कहाँ रखीं", "hindi"),
        ("சாவிகளை எங்கே வைத்தோம்", "tamil"),
    ],
)
def test_a_short_text_is_told_to_be_in_its_language(text: str, language: str) -> None:
    assert set(told(text)[0]) == {language}


@pytest.mark.flash
def test_a_language_without_a_stemmer_is_not_taken_for_another() -> None:
    assert set(told("Gdje smo stavili ključeve od auta")[0]) == {"english"}
    assert set(told("Chúng ta để chìa khóa ở đâu")[0]) == {"english"}


@pytest.mark.flash
def test_words_of_other_letters_have_the_language_of_their_script_and_the_rest_that_of_the_text() -> None:
    assert told("wir suchen den Schlüssel собаки 2023 京都 שלום") == [["german"] * 4 + ["russian", None, None, None]]
    assert told("کلیدها را") == [["persian", "arabic"]]


@pytest.mark.flash
def test_no_words_have_no_language() -> None:
    empty = pl.DataFrame({"row": [], "token": []}, schema={"row": pl.UInt32, "token": pl.String})
    assert languages(empty).to_list() == []
    assert languages(empty).dtype == LANGUAGES


WORDS = st.sampled_from(["the", "dogs", "der", "hund", "les", "chats", "и", "собаки", "کتاب", "الكتاب", "京都", "2023"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(WORDS, max_size=6).map(" ".join), min_size=1, max_size=5))
def test_what_a_text_is_told_to_be_depends_on_no_other_text(texts: list[str]) -> None:
    assert told(*texts) == [told(text)[0] for text in texts]


@pytest.mark.parametrize(
    ("source_format", "file", "items"),
    [
        ("locomo", "locomo_conversations_0_to_5.json", "0-2"),
        ("longmemeval", "one_item.json", "0"),
        ("longmemeval", "list_valued_items.json", "0"),
    ],
)
def test_real_chats_and_questions_in_english_are_told_to_be_english(
    real_data: Path, source_format: str, file: str, items: str
) -> None:
    with (real_data / source_format / file).open("rb") as stream:
        found = list(arrivals(source_format, [Document.of(stream, file)], {"items": items}))
    texts = [
        text for arrival in found for rows in (arrival.turns, arrival.requests) for text in rows["text"].to_pylist()
    ]
    assert len(texts) > 20
    assert {language for of_text in told(*texts) for language in of_text} <= {"english", None}

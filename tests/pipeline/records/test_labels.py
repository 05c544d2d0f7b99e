"""Keywords, tags and descriptions."""

from __future__ import annotations

import pytest

from pipeline.records.labels import description, keywords
from pipeline.records.tags import MOST, tags_of_chat, tags_of_steps

pytestmark = pytest.mark.flash


def test_names_identifiers_and_rare_words_are_keywords() -> None:
    found = keywords(["We met Matt Patterson at the violin concert.", "See src/app.py, Ana."], ["Ana"])
    assert found[:2] == ("Matt Patterson", "src/app.py")
    assert {"violin", "concert"} <= set(found)
    assert "Ana" not in found


def test_there_are_at_most_twelve() -> None:
    assert len(keywords([" ".join(f"rare{letter}word" for letter in "abcdefghijklmnopq")], [])) == 12


def test_grammar_of_another_language_is_no_keyword() -> None:
    found = keywords(["ich habe gestern mit der Familie die Museen in München und Köln besucht"], [])
    assert {"München", "Köln"} <= set(found)
    assert not {"ich", "habe", "mit", "der", "die", "und"} & set(found)


def test_tags_of_a_chat_are_its_commonest_kinds() -> None:
    assert tags_of_chat({"dog": 3, "hotel": 1, "violin": 9}) == ("pets", "travel")
    assert len(tags_of_chat(dict.fromkeys(("dog", "hotel", "job", "doctor", "mom", "dinner", "house"), 1))) == MOST


def test_tags_of_steps_say_what_was_done() -> None:
    assert set(tags_of_steps(["$ grep -rn x src", "$ python -m pytest\n=>\n1 failed"])) == {"search", "test", "error"}
    assert tags_of_steps(["nothing was done"]) == ()


def test_a_description_is_a_short_phrase() -> None:
    assert description(["Ana", "Ben"], ["work"], ["Rome", "Luna"]) == "Ana, Ben on work: Rome, Luna"
    assert len(description(["Ana"], ["a"] * 9, ["two words"] * 12).split()) <= 15

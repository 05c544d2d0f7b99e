"""What a sentence is worth telling, and what is left of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.records.details import terms
from pipeline.records.record import UnitTurn
from pipeline.records.telling import compact, said, tellings

pytestmark = pytest.mark.flash


def short(sentence: str) -> str:
    return compact(sentence, terms(sentence.split()))


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("Hey Ana, I adopted a cat named Luna!", "adopted a cat named Luna"),
        ("Wow, thanks! We visited Rome, and it was so nice.", "visited Rome"),
        ("I planned to visit Rome, but I didn't go.", "planned to visit Rome, but I didn't go"),
        ("If I could, I'd move to Oslo.", "If I could, I'd move to Oslo"),
        ("Can you print 'Hello, World!'?", "Can you print 'Hello, World!'?"),
    ],
)
def test_filler_goes_and_what_turns_the_rest_round_stays(sentence: str, left: str) -> None:
    assert short(sentence) == left


def test_a_long_sentence_is_cut_to_its_best_clauses() -> None:
    padding = ", it was all so very good and so nice to be there with all of you again and again"
    sentence = f"It was a day{padding}, we met Ines Duarte in Porto{padding}."
    assert short(sentence).startswith("we met Ines Duarte in Porto")


def test_a_fact_keeps_its_subject() -> None:
    assert said("Yeah, I adopted a cat.") == "I adopted a cat."


def test_names_of_those_who_speak_tell_nothing() -> None:
    turns = (
        UnitTurn(0, "user", "Melanie", "Caroline sings."),
        UnitTurn(1, "user", "Caroline", "Mel, Melanie, violin."),
    )
    assert [sorted(told.terms) for told in tellings(turns)] == [["sing"], ["violin"]]


def test_what_somebody_did_tells_more_than_praise_or_a_question() -> None:
    lines = ["I adopted a cat.", "That's a lovely cat.", "Do you have a cat?", "[a photo of a cat]"]
    found = tellings(tuple(UnitTurn(index, "user", "Ana", line) for index, line in enumerate(lines)))
    assert max(found, key=lambda told: told.worth).sentence == "I adopted a cat."
    assert all(told.worth < 0.9 for told in found[1:])


@given(st.text(st.sampled_from("aI 'm,.;!?-—’漢A1"), min_size=1, max_size=200).filter(str.strip))
def test_what_is_left_is_part_of_the_sentence(sentence: str) -> None:
    assert short(sentence) in sentence
    assert sentence.endswith(said(sentence))

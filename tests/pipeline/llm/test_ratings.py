from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.interfaces import Answer
from pipeline.llm.ratings import HIGHEST, expected_rating, rating

pytestmark = pytest.mark.flash

WHOLE = [str(number) for number in range(HIGHEST + 1)]
WEIGHTS = st.lists(st.floats(0, 1), min_size=11, max_size=11).filter(lambda weights: sum(weights) > 0)
BLANK = st.sampled_from(["", " ", "\n", "▁", "Ġ"])


def place(masses: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Alternatives of these probabilities, likeliest first."""
    ordered = sorted(masses.items(), key=lambda item: -item[1])
    return tuple((token, math.log(mass)) for token, mass in ordered if mass > 0)


def answer(text: str, *places: Mapping[str, float]) -> Answer:
    return Answer(text, alternatives=tuple(map(place, places)) or None)


@given(WEIGHTS, BLANK)
def test_a_score_lies_between_0_and_10_and_is_the_mean_of_the_ratings_by_their_mass(weights, blank):
    total = sum(weights)
    masses = {f"{blank}{name}": weight / total for name, weight in zip(WHOLE, weights, strict=True)}
    found = rating(answer("5", masses))
    assert found.from_logprobs
    assert 0 <= found.score <= HIGHEST
    mean = sum(number * mass for number, mass in enumerate(masses.values()))
    assert found.score == pytest.approx(mean, abs=1e-9)


@given(st.integers(0, HIGHEST), st.floats(0.1, 1), BLANK)
def test_it_is_the_integer_that_has_all_mass_whatever_else_is_said_beside_integers(number, mass, blank):
    found = rating(answer(str(number), {f"{blank}{number}": mass, "The": 1 - mass}))
    assert found.score == number


@given(st.lists(st.floats(0.01, 1), min_size=11, max_size=11), st.integers(0, 9), st.integers(1, 10), st.floats(0, 1))
def test_it_rises_where_mass_moves_to_a_higher_rating(weights, low, step, share):
    high = min(HIGHEST, low + step)
    moved = list(weights)
    moved[low] -= share * weights[low]
    moved[high] += share * weights[low]
    before, after = (
        expected_rating(answer("5", {name: w / sum(each) for name, w in zip(WHOLE, each, strict=True)}))
        for each in (weights, moved)
    )
    assert after >= before - 1e-9


@given(st.floats(0, 1), st.floats(0, 1))
def test_where_ten_is_two_tokens_the_second_divides_the_mass_of_the_one(zero, higher):
    first = {"1": 0.6, "4": 0.4}
    found = expected_rating(answer("10", first, {"0": zero, "<eos>": 1 - zero}))
    assert found == pytest.approx(0.6 * (10 * zero + (1 - zero)) + 0.4 * 4, abs=1e-9)
    more = max(zero, higher)
    assert expected_rating(answer("10", first, {"0": more, "<eos>": 1 - more})) >= found - 1e-9


def test_the_second_token_says_nothing_of_a_one_that_was_not_said_or_where_ten_is_one_token():
    said_four = answer("4", {"4": 0.6, "1": 0.4}, {"0": 0.9, "<eos>": 0.1})
    assert expected_rating(said_four) == pytest.approx(0.6 * 4 + 0.4)
    of_one_token = answer("10", {"10": 0.6, "1": 0.4}, {"0": 0.9, "<eos>": 0.1})
    assert expected_rating(of_one_token) == pytest.approx(0.6 * 10 + 0.4)
    assert expected_rating(answer("1", {"1": 1.0})) == 1, "the engine shows no second token"


@pytest.mark.parametrize(
    ("text", "score"), [("7", 7), (" 10", 10), ("0.", 0), ("**8**", 8), ("9/10", 9), ("(3)", 3), ("1\n", 1)]
)
def test_without_alternatives_it_is_the_integer_that_the_text_begins_with(text, score):
    assert rating(Answer(text)) == (score, False, "")


@pytest.mark.parametrize("text", ["", "11", "-1", "The", "3.5", "100", "no 5"])
def test_what_begins_with_no_integer_from_0_to_10_is_no_rating_and_the_reason_quotes_it(text):
    found = rating(Answer(text))
    assert found.score is None
    assert repr(text) in found.reason


def test_a_model_that_begins_with_something_else_is_not_taken_at_what_it_hardly_weighed():
    thinking = answer("<think>", {"<think>": 0.999, "7": 0.001})
    assert rating(thinking).score is None
    said_after_all = answer("4", {"Four": 0.99, "4": 0.01})
    assert rating(said_after_all) == (4, False, "")


def test_what_failed_has_the_reason_of_the_engine():
    assert rating(Answer("", "failed", "prompt is too long")) == (None, False, "prompt is too long")

import pytest

from pipeline.synth.dice import Dice
from pipeline.synth.grammar import fill, phrase, say, with_article

pytestmark = pytest.mark.flash


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [
        ("{a thing} and {the thing}", {"thing": "oven"}, "An oven and the oven"),
        ("tea(|) , please", {}, "Tea, please"),
        ("(only|only) (one (way|way)|one way).", {}, "Only one way."),
        ("literal (brackets) stay", {}, "Literal (brackets) stay"),
    ],
)
def test_a_template_becomes_a_tidy_sentence(template, values, text):
    assert say(template, Dice("x"), values) == text


def test_every_choice_of_a_template_turns_up():
    dice = Dice("choices")
    assert {phrase("(a|b|(c|d))", dice) for _ in range(100)} == {"a", "b", "c", "d"}


def test_values_are_not_read_as_templates():
    assert phrase("{x}", Dice("x"), {"x": "(a|b) {y}"}) == "(a|b) {y}"


def test_a_slot_without_a_value_is_an_error():
    with pytest.raises(KeyError, match="thing"):
        phrase("{a thing}", Dice("x"), {})


def test_filling_leaves_indentation_and_braces_alone():
    assert fill('{"k": {n}}\n    {n} ;', {"n": "3"}) == '{"k": 3}\n    3 ;'


@pytest.mark.parametrize(
    ("noun", "text"), [("apple", "an apple"), ("hour", "an hour"), ("unit", "a unit"), ("X-ray", "a X-ray")]
)
def test_the_article_follows_the_sound(noun, text):
    assert with_article(noun) == text

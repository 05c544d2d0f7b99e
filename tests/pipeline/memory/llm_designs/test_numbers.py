"""Numbers in answers: those that are listed, each once."""

from __future__ import annotations

import pytest

from models.interfaces import Answer
from pipeline.llm.rounds import Complaint
from pipeline.memory.llm_designs.numbers import numbers_in

pytestmark = pytest.mark.flash


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"pages": [7, 3, 7, 5]}', (7, 3, 5)),
        ("Pages: [5, 3]", (5, 3)),
        ('{"pages": [3, 99, -3, 0, "5", true, null, 5.0, 7]}', (3, 7)),
        ('{"pages": []}', ()),
        ("[]", ()),
        ('{"pages": [3, 5, 7, 6', (3, 5, 7)),
    ],
)
def test_what_is_listed_is_taken_in_its_order(text, found):
    assert numbers_in(Answer(text), "pages", [3, 5, 7], 6) == found


def test_no_more_are_taken_than_may_be():
    assert numbers_in(Answer("[7, 5, 3]"), "pages", [3, 5, 7], 2) == (7, 5)


@pytest.mark.parametrize("text", ["", "3 and 5", '{"other": [3]}', '{"pages": 3}', '{"pages": [99]}'])
def test_what_names_nothing_that_is_listed_is_a_complaint(text):
    assert isinstance(numbers_in(Answer(text), "pages", [3, 5, 7], 6), Complaint)

"""Facts: their kinds, their dates, and the turns that tell them."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from pipeline.records.facts import cut, facts, kind_of
from pipeline.records.record import Fact

pytestmark = pytest.mark.flash


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("We're thinking about going camping next month.", "plan"),
        ("I’ll start the course soon.", "plan"),
        ("I no longer work at Acme.", "update"),
        ("I moved to Oslo.", "update"),
        ("I love reading Dostoevsky.", "preference"),
        ("My favorite color is blue.", "preference"),
        ("I went to a support group yesterday.", "event"),
        ("She finally adopted a cat.", "event"),
        ("My sister is a nurse.", "fact"),
    ],
)
def test_the_kind_of_a_fact(sentence: str, kind: str) -> None:
    assert kind_of(sentence) == kind


def test_a_fact_has_its_date_and_all_turns_that_say_it() -> None:
    told = [(1, "I ran last Saturday."), (2, "It rained."), (4, "I ran last Saturday.")]
    assert facts(told, datetime(2023, 5, 25)) == (
        Fact("event", "I ran last Saturday.", (1, 4), date(2023, 5, 20), "day"),
        Fact("fact", "It rained.", (2,)),
    )


def test_a_long_one_is_cut_behind_a_word() -> None:
    text = "word " * 100
    assert text.startswith(cut(text))
    assert len(cut(text)) <= 240
    assert cut(text).endswith("word")
    assert len(cut("x" * 500)) == 240

"""What a word is, and what it is worth keeping for."""

from __future__ import annotations

import pytest

from pipeline.records.details import detail, terms

pytestmark = pytest.mark.flash


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ("the", "grammar"),
        ("don't", "grammar"),
        ("amazing!", "plain"),
        ("really", "plain"),
        ("violin", "word"),
        ("yesterday,", "time"),
        ("adopted", "event"),
        ("Rome.", "name"),
        ("LGBTQ", "name"),
        ("12", "number"),
        ("$3.50", "number"),
        ("twelve", "number"),
        ("src/app/main.py", "identifier"),
        ("https://example.org/a?b", "identifier"),
        ("load_config", "identifier"),
        ("HttpClient", "identifier"),
        ("--verbose", "identifier"),
        ("ana@example.org", "identifier"),
    ],
)
def test_the_kind_of_a_word(token: str, kind: str) -> None:
    assert detail(token).kind == kind


def test_a_capital_at_the_beginning_makes_no_name() -> None:
    assert terms(["Painting", "in", "Rome"]) == {"painting": 1.0, "rome": 2.0}


def test_plural_and_possessive_count_as_the_word_itself() -> None:
    assert terms(["violins", "violin's", "violin"]).keys() == {"violin"}


def test_runs_of_letters_count_where_no_spaces_are() -> None:
    assert {"東京", "上野動物園"} <= terms(["昨日、東京の上野動物園に行きました"]).keys()

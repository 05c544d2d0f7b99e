"""Overlap of answers with gold answers, against an obvious reference: LoCoMo's rules, one answer at a time."""

from __future__ import annotations

import re
import string
from collections import Counter

import polars as pl
import pytest
import Stemmer
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.answers.overlap import overlap

pytestmark = pytest.mark.flash

SCHEMA = {"text": pl.String, "answer": pl.String, "category": pl.String, "adversarial": pl.Boolean}
WORDS = ["cat", "Cats", "running", "run", "the", "an", "and", "7", "May", "2023", "no", "information", "available"]
TEXTS = st.lists(st.sampled_from([*WORDS, ",", ", ", ";", ".", "-", "'", " ", " ", "É"]), max_size=10).map("".join)


def words(text: str) -> list[str]:
    plain = "".join(mark for mark in text.lower() if mark not in string.punctuation)
    return re.sub(r"\b(a|an|the|and)\b", " ", plain).split()


def f1(text: str, gold: str) -> float:
    stemmer = Stemmer.Stemmer("porter")
    ours, theirs = (Counter(map(stemmer.stemWord, words(each))) for each in (text, gold))
    if not ours and not theirs:
        return 1.0
    common = sum((ours & theirs).values())
    if not common:
        return 0.0
    precision, recall = common / sum(ours.values()), common / sum(theirs.values())
    return 2 * precision * recall / (precision + recall)


def reference(text: str, gold: str, category: str) -> tuple[float, bool, bool]:
    """F1, exact, contains."""
    gold = gold.partition(";")[0] if category == "3" else gold
    golds, texts = (gold.split(","), text.split(",")) if category == "1" else ([gold], [text])
    mean = sum(max(f1(part, one) for part in texts) for one in golds) / len(golds)
    held = [words(one) and f" {' '.join(words(one))} " in f" {' '.join(words(text))} " for one in golds]
    return mean, words(text) == words(gold), all(map(bool, held))


def scored(*rows: tuple[str, str | None, str | None, bool]) -> list[dict]:
    return overlap(pl.DataFrame(rows, SCHEMA, orient="row")).rows(named=True)


def one_f1(text: str, gold: str, category: str | None = "4") -> float:
    return scored((text, gold, category, False))[0]["f1"]


@given(st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from(["1", "2", "3", "4"])), max_size=6))
def test_all_rows_are_scored_as_each_one_by_the_reference(rows):
    found = scored(*[(text, gold, category, False) for text, gold, category in rows])
    assert [row["text"] for row in found] == [text for text, _, _ in rows]
    for row, asked in zip(found, rows, strict=True):
        expected, exact, contains = reference(*asked)
        assert row["f1"] == pytest.approx(expected)
        assert (row["exact"], row["contains"], row["abstains"]) == (exact, contains, None)


@given(st.text(max_size=30), st.text(max_size=30), st.sampled_from(["1", "2", "3", "4", "other", None]))
def test_f1_is_a_share(text, gold, category):
    assert 0 <= one_f1(text, gold, category) <= 1


@example("the")
@given(st.text(max_size=30))
def test_f1_of_a_text_and_itself_is_one(text):
    assert one_f1(text, text) == pytest.approx(1)
    assert one_f1(text, text, "1") == pytest.approx(1)


@given(TEXTS, TEXTS)
def test_f1_is_symmetric_but_for_lists(text, gold):
    assert one_f1(text, gold) == pytest.approx(one_f1(gold, text))


def test_words_are_stemmed_and_articles_and_punctuation_left_out():
    assert one_f1("He was running, the dogs.", "was running and dog") == pytest.approx(2 * 3 / (4 + 3))


def test_of_a_list_each_gold_answer_is_met_by_its_best_part():
    assert one_f1("dogs, a cat", "cat, dog, cow", "1") == pytest.approx(2 / 3)
    assert one_f1("dogs, a cat", "cat, dog, cow", "4") < 1


def test_an_inferred_answer_is_scored_without_its_reason():
    assert one_f1("Likely yes", "Likely yes; she said so", "3") == 1
    assert one_f1("Likely yes", "Likely yes; she said so", "2") < 1


def test_an_adversarial_answer_is_scored_by_what_it_abstains_with():
    rows = scored(
        ("No information available.", "a dog", "5", True), ("It is Not Mentioned", None, "x_abs", True),
        ("a dog", "a dog", "5", True),
    )  # fmt: skip
    assert [row["abstains"] for row in rows] == [True, True, False]
    assert {row[name] for row in rows for name in ("f1", "exact", "contains")} == {None}


def test_without_a_gold_answer_nothing_is_scored():
    (row,) = scored(("a dog", None, "4", False))
    assert [row[name] for name in ("f1", "exact", "contains", "abstains")] == [None] * 4


def test_a_word_is_contained_only_whole():
    rows = scored(("It was in Rome.", "rome", "4", False), ("Romeo", "rome", "4", False))
    assert [row["contains"] for row in rows] == [True, False]

"""The summary of answers: who read what how, over which requests, and what judges say of it."""

from __future__ import annotations

import polars as pl
import pytest
from asked import answered, judged, requests

from pipeline.answers.summary import answer_rows

pytestmark = pytest.mark.flash


def rows(answers, asked, judgements=None):
    labels = judged() if judgements is None else judgements
    return answer_rows(*(pl.DataFrame(pl.from_arrow(each)) for each in (answers, asked, labels)), draws=100)


ASKED = requests(
    {"request_id": "a", "category": "multi-session", "answer": "Rome"},
    {"request_id": "b", "category": "multi-session", "answer": "a dog"},
    {"request_id": "c", "category": "knowledge-update", "answer": "two"},
    {"request_id": "x", "category": "multi-session", "adversarial": True},
    {"request_id": "open", "category": "multi-session"},
)


def test_overlap_is_over_requests_with_a_gold_answer_and_abstention_apart():
    made = answered(
        {"request_id": "a", "text": "Rome", "finish": "length"},
        {"request_id": "b", "text": "", "status": "failed"},
        {"request_id": "c", "text": "it is two"},
        {"request_id": "x", "text": "Not mentioned."},
        {"request_id": "open", "text": "anything", "prompt_tokens": 60},
    )
    (row,) = rows(made, ASKED)
    assert (row.n, row.n_adversarial, row.abstains, row.failed, row.cut) == (3, 1, 1.0, 1, 1)
    assert row.f1.value == pytest.approx((1 + 0 + 0.5) / 3)
    assert (row.exact, row.contains) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert (row.prompt_tokens, row.judged) == (20.0, ())


def test_rows_are_by_reader_shape_drawn_or_not_budget_and_policy_in_order():
    places = [
        {"policy": policy, "budget": budget, "shape": shape, "repeat": repeat}
        for repeat in (2, 1, 0) for shape in ("notes", "locomo") for budget in (2700, 900) for policy in ("q", "p")
    ]  # fmt: skip
    made = rows(answered(*({"request_id": "a", "text": "Rome", **place} for place in places)), ASKED)
    found = [(row.shape, row.sampled, row.budget, row.policy, row.repeats) for row in made]
    assert found == sorted(found)
    assert [row[-1] for row in found] == [1, 1, 1, 1, 2, 2, 2, 2] * 2


def test_a_request_counts_once_however_often_it_was_answered():
    made = answered(
        {"request_id": "a", "repeat": 1, "text": "Rome"},
        {"request_id": "a", "repeat": 2, "text": "Paris"},
        {"request_id": "c", "repeat": 1, "text": "two"},
    )
    (row,) = rows(made, ASKED)
    assert (row.n, row.f1.value) == (2, 0.75)


def test_a_judge_s_labels_are_averaged_over_requests_and_over_types():
    made = answered(*({"request_id": name, "text": "Rome"} for name in "abcx"))
    labels = judged(
        {"request_id": "a", "label": True},
        {"request_id": "b", "label": False},
        {"request_id": "c", "label": True},
        {"request_id": "x", "label": False},
        {"request_id": "a", "judge": "other", "label": None, "status": "unparsed"},
        {"request_id": "b", "judge": "other", "label": None, "status": "failed"},
    )
    first, second = rows(made, ASKED, labels)[0].judged
    assert (first.judge, first.n, first.n_abstention) == ("j", 3, 1)
    assert first.accuracy.value == pytest.approx(2 / 3)
    assert first.by_type == pytest.approx((0.5 + 1) / 2)
    assert (first.abstention, first.with_abstention) == (0.0, 0.5)
    # Right, wrong, right; contained: in the first alone.
    assert first.kappa_with_words == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert (second.n, second.accuracy.value, second.unparsed, second.failed) == (0, None, 1, 1)


def test_agreement_is_over_repeats_and_over_judgings():
    made = answered(*({"request_id": "a", "repeat": repeat, "text": "Rome"} for repeat in (1, 2)))
    labels = judged(
        *(
            {"request_id": "a", "repeat": repeat, "judging": judging, "label": repeat == judging}
            for repeat in (1, 2) for judging in (1, 2)
        )
    )  # fmt: skip
    ((found,),) = (row.judged for row in rows(made, ASKED, labels))
    assert (found.over_repeats.n, found.over_repeats.pairwise) == (1, 0.0)
    assert (found.over_judgings.n, found.over_judgings.pairwise) == (2, 0.0)


def test_every_value_has_a_name():
    made = answered({"request_id": "a", "text": "Rome"})
    (row,) = rows(made, ASKED, judged({"request_id": "a", "label": True}))
    named = dict(row.values())
    assert (named["f1"], named["accuracy by j"], named["prompt_tokens"]) == (1.0, 1.0, 10.0)
    assert "abstains" not in named
    assert row.as_dict()["judged"][0]["accuracy"]["value"] == 1.0


def test_of_no_answers_there_is_no_row():
    assert rows(answered(), ASKED) == ()

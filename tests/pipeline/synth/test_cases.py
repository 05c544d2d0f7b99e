"""What a question needs is planted, and its answer follows from it."""

import re
from datetime import datetime

import pytest

from pipeline.synth.cases import MAX_KAPPA, draw_case
from pipeline.synth.cases.aggregate import aggregate
from pipeline.synth.cases.lookup import lookup
from pipeline.synth.cases.recommended import recommended
from pipeline.synth.cases.temporal import temporal
from pipeline.synth.cases.update import update
from pipeline.synth.dice import Dice
from pipeline.synth.telling import ASSISTANT, USER

pytestmark = pytest.mark.flash
SEEDS = range(60)
TIMES = [datetime(2023, 1, day) for day in (3, 7, 20, 24, 30)]


@pytest.mark.parametrize("sessions", [1, 2, 3, 20])
def test_a_case_never_needs_more_sessions_than_there_are(sessions):
    kappas = {len(draw_case(Dice(f"{seed}"), sessions, 3).evidence) for seed in range(300)}
    assert kappas == set(range(1, min(sessions, MAX_KAPPA) + 1))


@pytest.mark.parametrize("make", [lookup, update, temporal, aggregate, recommended])
def test_a_case_has_as_many_near_misses_as_asked_for_and_none_is_its_evidence(make):
    for seed in SEEDS:
        case = make(Dice(f"{seed}"), 2, 13)
        assert len(case.near) == 13
        assert not {statement.text for statement in case.evidence} & {statement.text for statement in case.near}


def test_a_looked_up_answer_stands_in_the_users_evidence():
    for seed in SEEDS:
        case = lookup(Dice(f"{seed}"), 1, 4)
        assert case.answer([]).casefold() in case.evidence[0].text.casefold()
        assert case.evidence[0].role == USER


def test_a_recommended_name_stands_in_the_assistants_evidence_and_in_no_near_miss():
    for seed in SEEDS:
        case = recommended(Dice(f"{seed}"), 1, 12)
        assert case.answer([]) in case.evidence[0].text
        assert case.evidence[0].role == ASSISTANT
        assert not [near for near in case.near if case.answer([]) in near.text]


def test_the_latest_value_is_the_answer_and_no_other_evidence_has_it():
    for seed in SEEDS:
        case = update(Dice(f"{seed}"), 2, 12)
        old, new = case.evidence
        assert case.answer([]) in new.text
        assert case.answer([]) not in old.text
        assert not [near for near in case.near if case.answer([]) in near.text]


@pytest.mark.parametrize("kappa", [2, 3, 5])
def test_a_total_is_the_sum_of_the_evidence_and_a_count_its_number(kappa):
    kinds = set()
    for seed in SEEDS:
        case = aggregate(Dice(f"{seed}"), kappa, 4)
        assert len(case.evidence) == kappa
        number, unit = re.fullmatch(r"([\d,]*) ?(.*)", case.answer([])).groups()
        if number and unit:
            amounts = [re.findall(rf"([\d,]+) {unit}", statement.text)[-1] for statement in case.evidence]
            assert sum(int(amount.replace(",", "")) for amount in amounts) == int(number.replace(",", ""))
            kinds.add("total")
        elif number:
            assert int(number) == kappa
            kinds.add("count")
    assert kinds == {"total", "count"}


def test_days_between_are_counted_from_the_sessions_and_order_follows_the_evidence():
    between = [temporal(Dice(f"{seed}"), 2, 0) for seed in SEEDS]
    counted = [case.answer(TIMES[1:3]) for case in between if case.question.startswith("How many days")]
    assert counted
    assert set(counted) == {"13 days"}
    for seed in SEEDS:
        case = temporal(Dice(f"{seed}"), 3, 0)
        assert len(case.evidence) == len(case.answer(TIMES).split(", ")) == 3

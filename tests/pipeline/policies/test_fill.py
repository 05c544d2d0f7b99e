from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.calibration import Calibration
from models.tokens import token_counter
from pipeline.policies.adaptive_k import adaptive_k
from pipeline.policies.fill import Candidates, greedy, plan, settle
from pipeline.policies.knapsack import knapsack_fill

COUNTER = token_counter("o200k_base")
pytestmark = pytest.mark.flash

NASTY = st.sampled_from(
    [
        "hi",
        "/usr/bin/env\n",
        "user: hi!\n\nassistant: no",
        "<|endoftext|>",
        "🙂" * 7,
        "\u05e9\u05dc\u05d5\u05dd",
        "  \n ",
        "a" * 200,
        "# 8 May 2023",
    ]
)


def joined(lines: list[str]):
    def render_and_count(places):
        text = "\n".join(lines[place] for place in places)
        return text, COUNTER.count(text)

    return render_and_count


FILLS = {
    "greedy": greedy,
    "adaptive_k": adaptive_k,
    "knapsack": knapsack_fill(Calibration(slope=1.0, intercept=0.0)),
}


@pytest.mark.parametrize("fill", FILLS.values(), ids=FILLS)
@given(lines=st.lists(NASTY, max_size=12), budget=st.integers(0, 60), random=st.randoms(use_true_random=False))
def test_a_slate_is_never_over_its_budget_however_the_tokenizer_merges(fill, lines, budget, random):
    ranking = list(range(len(lines)))
    random.shuffle(ranking)
    # Counts of parts that are too low on purpose: the final count must hold all the same.
    scores = np.linspace(1, 0, len(lines))
    candidates = Candidates(ranking, scores, [0] * len(lines), [1] * len(lines), [0] * len(lines))
    (planned,) = fill(candidates, [budget])
    filled = settle(planned, budget, joined(lines))
    assert filled.n_tokens <= budget
    assert filled.n_tokens == COUNTER.count(filled.text)
    assert set(filled.places) <= set(planned)


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(0, 30))
def test_the_plan_takes_each_turn_that_fits_and_goes_on_after_one_that_does_not(tokens, budget):
    planned = plan(range(len(tokens)), [0] * len(tokens), tokens, [0] * len(tokens), budget)
    left = budget
    for place, cost in enumerate(tokens):
        assert (place in planned) == (cost <= left)
        left -= cost if place in planned else 0


def test_a_session_pays_for_its_header_once():
    planned = plan([0, 1, 2], sessions=[5, 5, 6], line_tokens=[3, 3, 3], header_tokens=[4, 4, 4], budget=11)
    assert planned == [0, 1]


def test_what_is_dropped_is_the_lowest_ranked():
    lines = ["one two three", "four five six", "seven eight nine"]
    for ranking in itertools.permutations(range(3)):
        filled = settle(ranking, COUNTER.count("\n".join(lines)) - 1, joined(lines))
        assert set(filled.places) == set(ranking[:2])


def test_nothing_fits_gives_the_empty_slate():
    filled = settle([0], 2, joined(["far too long for a budget of two tokens"]))
    assert (filled.places, filled.text, filled.n_tokens) == ((), "", 0)

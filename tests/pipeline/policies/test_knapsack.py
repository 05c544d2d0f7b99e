from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.calibration import Calibration
from models.tokens import token_counter
from pipeline import schemas
from pipeline.policies.fill import Candidates, greedy
from pipeline.policies.knapsack import UNIT, knapsack, knapsack_fill, values
from pipeline.policies.slates import Catalog
from pipeline.render.styles import STYLES

COUNTER = token_counter("o200k_base")
EVEN = Calibration(slope=1.0, intercept=0.0)

pytestmark = pytest.mark.flash

TURN = st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(0, 2))
"""Worth, tokens, session."""
HEADERS = st.tuples(*[st.integers(0, 6)] * 3)


def candidates_of(turns, headers, ranking) -> Candidates:
    sessions = [session for _, _, session in turns]
    tokens = [tokens for _, tokens, _ in turns]
    return Candidates(ranking, np.zeros(len(turns)), sessions, tokens, [headers[session] for session in sessions])


def cost(places, turns, headers) -> int:
    return sum(turns[place][1] for place in places) + sum(headers[s] for s in {turns[place][2] for place in places})


def best_by_trying_all(turns, headers, budget) -> int:
    sets = itertools.chain.from_iterable(itertools.combinations(range(len(turns)), n) for n in range(len(turns) + 1))
    return max(sum(turns[place][0] for place in places) for places in sets if cost(places, turns, headers) <= budget)


@settings(max_examples=300)
@given(
    st.lists(TURN, max_size=9),
    HEADERS,
    st.lists(st.integers(0, 40), min_size=1, max_size=3),
    st.randoms(use_true_random=False),
)
def test_no_set_of_turns_that_fits_is_worth_more(turns, headers, budgets, random):
    ranking = list(range(len(turns)))
    random.shuffle(ranking)
    worth = np.array([turns[place][0] for place in ranking], np.int64)
    found = knapsack(candidates_of(turns, headers, ranking), worth, budgets)
    for places, budget in zip(found, budgets, strict=True):
        assert len(set(places)) == len(places)
        assert cost(places, turns, headers) <= budget
        assert sum(turns[place][0] for place in places) == best_by_trying_all(turns, headers, budget)
        assert places == [place for place in ranking if place in places], "in rank order"


LARGE = st.lists(st.tuples(st.integers(0, 10**9), st.integers(1, 120), st.integers(0, 2)), max_size=60)


@given(LARGE, HEADERS, st.integers(1, 3000))
def test_it_is_never_worth_less_than_the_greedy_fill_and_fits(turns, headers, budget):
    turns = sorted(turns, reverse=True)
    candidates = candidates_of(turns, headers, range(len(turns)))
    worth = np.array([turn[0] for turn in turns], np.int64)
    (places,), (walked,) = knapsack(candidates, worth, [budget]), greedy(candidates, [budget])
    assert cost(places, turns, headers) <= budget
    assert sum(turns[place][0] for place in places) >= sum(turns[place][0] for place in walked)


def test_two_turns_of_an_open_session_are_preferred_to_a_better_one_that_opens_another():
    turns, headers = [(5, 4, 0), (6, 4, 1), (3, 4, 0)], (4, 4, 4)
    candidates = candidates_of(turns, headers, [1, 0, 2])
    assert knapsack(candidates, np.array([6, 5, 3]), [12]) == [[0, 2]]
    assert greedy(candidates, [12]) == [[1]]


def test_values_are_what_a_turn_adds_to_the_chance_that_none_is_missed():
    calibration = Calibration(slope=1.0, intercept=0.0)
    worth = values(calibration, np.array([0.0, -1e9]))
    assert worth.tolist() == [round(np.log(2) / UNIT), 0]
    assert values(calibration, np.array([1e9]))[0] < 40 / UNIT, "certainty is finite, or one turn would outweigh all"


def test_the_fill_takes_several_probable_turns_for_one_that_is_longer_and_a_little_more_probable():
    candidates = Candidates([0, 1, 2], np.array([1.0, 0.9, 0.9]), [7, 7, 7], [10, 5, 5], [2, 2, 2])
    assert knapsack_fill(Calibration(slope=1.0, intercept=0.0))(candidates, [12]) == [[1, 2]]
    assert greedy(candidates, [12]) == [[0]]


def test_no_candidates_and_no_room_give_empty_plans():
    fill = knapsack_fill(Calibration(slope=1.0, intercept=0.0))
    assert fill(Candidates([], np.zeros(0), [], [], []), [0, 9]) == [[], []]
    assert fill(Candidates([0], np.ones(1), [7], [5], [5]), [9, 10]) == [[], [0]]


def in_lean_style(said: list[tuple[int, str, str]]) -> tuple[Catalog, Candidates]:
    """Turns (session, speaker, text) of one history in lean style, ranked as they stand, all equally probable."""
    rows = [
        {"history_id": "h", "session_index": session, "turn_index": place, "session_time": None, "role": "user",
         "speaker": speaker, "text": text, "n_tokens": 1}
        for place, (session, speaker, text) in enumerate(said)
    ]  # fmt: skip
    turns = pl.DataFrame(rows, schema=pl.DataFrame(schemas.TURNS.empty_table()).schema)
    catalog = Catalog(turns, turns.select(*schemas.TURN_KEY), STYLES["lean"](COUNTER), COUNTER)
    ranking = [catalog.place[session, place] for place, (session, _, _) in enumerate(said)]
    parts = (catalog.shown.session_indices, catalog.line_tokens, catalog.header_tokens)
    return catalog, Candidates(ranking, np.zeros(len(said)), *parts, catalog.saving)


def test_what_turns_save_by_standing_together_is_spent_on_more_of_them_in_rank_order():
    catalog, candidates = in_lean_style([(1, "Oluwaseun Adeyemi", "It is so.")] * 12)
    (planned,) = knapsack(candidates, values(EVEN, candidates.scores), [60])
    (filled,) = knapsack_fill(EVEN)(candidates, [60])
    assert set(filled) > set(planned)
    assert filled == candidates.ranking[: len(filled)]
    assert catalog.render_and_count(sorted(filled))[1] <= 60
    assert catalog.render_and_count(sorted(candidates.ranking[: len(filled) + 1]))[1] > 60


LINES = st.tuples(
    st.integers(1, 3), st.sampled_from(["Oluwaseun Adeyemi", "Ana"]), st.sampled_from(["Yes.", "So it is."])
)


@settings(max_examples=100)
@given(st.lists(LINES, max_size=12), st.integers(0, 120))
def test_under_a_style_that_saves_all_that_was_planned_is_shown_and_no_turn_is_passed_over_that_fits(said, budget):
    catalog, candidates = in_lean_style(sorted(said))
    (planned,) = knapsack(candidates, values(EVEN, candidates.scores), [budget])
    (filled,) = knapsack_fill(EVEN)(candidates, [budget])
    assert set(planned) <= set(filled)
    assert filled == [place for place in candidates.ranking if place in filled], "in rank order"
    if filled:
        assert catalog.render_and_count(sorted(filled))[1] <= budget
    taken = list(planned)
    for place in candidates.ranking:
        if place in filled:
            taken += [] if place in planned else [place]
        else:
            # Not `> budget`: the plan counts a break after the last line, which the text has not.
            assert catalog.render_and_count(sorted([*taken, place]))[1] >= budget

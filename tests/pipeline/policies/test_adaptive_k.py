from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.policies.adaptive_k import BUFFER, adaptive_k, cut
from pipeline.policies.fill import Candidates, greedy

pytestmark = pytest.mark.flash


def falling(*falls: float) -> np.ndarray:
    """Scores from 0 down by these falls."""
    return -np.cumsum([0.0, *falls])


def test_the_ranking_is_cut_after_the_largest_fall_and_the_buffer():
    assert cut(falling(*[0.1] * 3, 2.0, *[0.1] * 16)) == 4 + BUFFER


def test_of_equally_large_falls_the_first_counts():
    assert cut(falling(0.5, *[0.1] * 8, 0.5, *[0.1] * 10)) == 1 + BUFFER


def test_a_fall_among_the_last_tenth_is_not_looked_at():
    assert cut(falling(0.1, 0.3, *[0.1] * 17, 9.0)) == 2 + BUFFER
    assert cut(falling(0.1, 0.3, *[0.1] * 16, 9.0, 0.1, 0.1)) == 22, "the buffer ends with the ranking"


@pytest.mark.parametrize("scores", [[], [1.0], [1.0, 1.0], [2.0] * 30])
def test_where_no_score_falls_all_are_kept(scores):
    assert cut(np.array(scores)) == len(scores)


def test_without_scores_all_are_kept():
    assert cut(np.full(9, np.nan)) == 9


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9), st.integers(0, 2)), max_size=30), st.integers(0, 80))
def test_it_is_the_greedy_fill_of_the_turns_before_the_cut(turns, budget):
    scores = np.array(sorted((score for score, _, _ in turns), reverse=True), np.float64)
    tokens = [tokens for _, tokens, _ in turns]
    sessions = [session for _, _, session in turns]
    candidates = Candidates(range(len(turns)), scores, sessions, tokens, [3] * len(turns))
    short = Candidates(range(cut(scores)), scores, sessions, tokens, [3] * len(turns))
    assert adaptive_k(candidates, [budget]) == greedy(short, [budget])

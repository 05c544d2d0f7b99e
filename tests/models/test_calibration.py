from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from models.calibration import Calibration, fit_calibration

pytestmark = pytest.mark.flash

SCORE = st.floats(-50, 50).map(lambda score: round(score, 6))
ROWS = st.lists(st.tuples(SCORE, st.booleans()), min_size=2, max_size=60).filter(
    lambda rows: len({relevant for _, relevant in rows}) == 2
)


def drawn(n: int, slope: float, intercept: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and relevance drawn with the probability that a calibration gives each."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 2, n)
    probability = Calibration(slope=slope, intercept=intercept).probability(scores)
    return scores, (rng.random(n) < probability).astype(np.int32)


def test_what_scores_were_drawn_by_is_found_again():
    fitted = fit_calibration(*drawn(200_000, 1.3, -2.0))
    assert fitted.slope == pytest.approx(1.3, abs=0.03)
    assert fitted.intercept == pytest.approx(-2.0, abs=0.03)


def test_a_probability_is_the_share_of_evidence_among_such_scores():
    scores, relevance = drawn(100_000, 0.8, -3.0)
    fitted = fit_calibration(scores, relevance)
    probability = fitted.probability(scores)
    for low, high in ((0.0, 0.05), (0.05, 0.2), (0.2, 0.6)):
        such = (probability >= low) & (probability < high)
        assert such.sum() > 300
        assert relevance[such].mean() == pytest.approx(probability[such].mean(), abs=0.03)


def cross_entropy(slope: float, intercept: float, scores: np.ndarray, relevance: np.ndarray) -> float:
    """Platt's loss in plain loops, with his targets."""
    positive = int(relevance.sum())
    high, low = (positive + 1) / (positive + 2), 1 / (len(relevance) - positive + 2)
    losses = []
    for score, relevant in zip(scores, relevance, strict=True):
        z, target = slope * score + intercept, high if relevant else low
        losses.append(max(z, 0) - target * z + np.log1p(np.exp(-abs(z))))
    return float(np.sum(losses))


@given(ROWS, st.floats(-0.1, 0.1), st.floats(-0.1, 0.1))
def test_no_calibration_near_the_fitted_one_fits_better(rows, more_slope, more_intercept):
    scores, relevance = np.array([score for score, _ in rows]), np.array([int(relevant) for _, relevant in rows])
    fitted = fit_calibration(scores, relevance)
    loss = cross_entropy(fitted.slope, fitted.intercept, scores, relevance)
    other = cross_entropy(max(0.0, fitted.slope + more_slope), fitted.intercept + more_intercept, scores, relevance)
    assert loss <= other + 1e-5


@given(ROWS)
def test_probabilities_keep_the_order_of_scores_and_lie_between_0_and_1(rows):
    scores, relevance = np.array([score for score, _ in rows]), np.array([int(relevant) for _, relevant in rows])
    probability = fit_calibration(scores, relevance).probability(np.sort(scores))
    assert ((probability >= 0) & (probability <= 1)).all()
    assert (np.diff(probability) >= 0).all()


def test_scores_that_order_backwards_or_are_all_equal_give_everyone_the_share_of_evidence():
    scores, relevance = drawn(10_000, 1.0, -1.0)
    for told in (-scores, np.full(10_000, 3.0)):
        fitted = fit_calibration(told, relevance)
        assert fitted.slope == 0
        assert fitted.probability(np.array([-9.0, 9.0])) == pytest.approx(relevance.mean(), abs=0.001)


def test_separated_scores_give_no_certainty():
    fitted = fit_calibration(np.array([-1.0, -1.0, 1.0, 1.0]), np.array([0, 0, 1, 1]))
    assert fitted.probability(np.array([-1.0, 1.0])) == pytest.approx([0.25, 0.75], abs=1e-6)


def test_the_order_of_the_rows_does_not_matter_and_the_same_rows_give_the_same():
    scores, relevance = drawn(5_000, 1.0, -1.0)
    shuffled = np.random.default_rng(1).permutation(5_000)
    assert fit_calibration(scores, relevance) == fit_calibration(scores[shuffled], relevance[shuffled])


def test_scores_far_beyond_those_that_it_was_fitted_on_overflow_nowhere():
    with np.errstate(over="raise", divide="raise"):
        probability = Calibration(slope=2.0, intercept=0.0).probability(np.array([-1e9, 1e9]))
    assert probability.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("scores", "relevance", "message"),
    [
        ([1.0, 2.0], [1, 1], "needs both kinds"),
        ([1.0, 2.0], [0, 0], "0 are evidence"),
        ([1.0], [1, 0], "shape"),
        ([1.0, np.nan], [1, 0], "not finite"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(scores, relevance, message):
    with pytest.raises(ValueError, match=message):
        fit_calibration(np.array(scores), np.array(relevance))


def test_a_calibration_that_turns_the_order_round_cannot_be_made():
    with pytest.raises(ValidationError):
        Calibration(slope=-1.0, intercept=0.0)

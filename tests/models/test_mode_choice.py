"""The choice of a mode: a ridge estimate of what units gain over pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.mode_choice import RIDGE, ModeChoice, fit_mode_choice

pytestmark = pytest.mark.flash
NAMES = ("a", "b")


def fitted(n: int = 200) -> tuple[ModeChoice, np.ndarray, np.ndarray]:
    dice = np.random.default_rng(1)
    values = dice.normal(size=(n, 2)) * (3.0, 0.1) + (5.0, -1.0)
    gain = 0.2 * (values[:, 0] - 5.0) / 3.0 - 0.1
    return fit_mode_choice(NAMES, values, gain, ["reader"] * n), values, gain


def test_it_tells_when_units_gain() -> None:
    choice, values, gain = fitted()
    told = np.array([choice.gain(row) for row in values])
    assert np.corrcoef(told, gain)[0, 1] > 0.99
    assert abs(told.mean() - gain.mean()) < 1e-6
    assert choice.modes == ("reader",)


def test_it_is_the_solution_of_the_ridge_equations() -> None:
    choice, values, gain = fitted()
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    rows = np.vstack([standard, np.sqrt(RIDGE) * np.eye(2)])
    expected, *_ = np.linalg.lstsq(rows, np.concatenate([gain - gain.mean(), np.zeros(2)]), rcond=None)
    assert choice.weights == pytest.approx(expected, abs=1e-8)


def test_a_signal_that_is_always_the_same_counts_for_nothing() -> None:
    values = np.column_stack([np.arange(20.0), np.full(20, 7.0)])
    choice = fit_mode_choice(NAMES, values, np.arange(20.0) / 20, ["reader"])
    assert choice.weights[1] == 0
    assert choice.gain([3.0, 7.0]) == choice.gain([3.0, 99.0])


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9), st.floats(-1, 1)), min_size=1, max_size=30))
def test_any_requests_give_a_finite_estimate_that_reads_back_from_its_text(rows) -> None:
    table = np.array(rows)
    choice = fit_mode_choice(NAMES, table[:, :2], table[:, 2], ["agent", "reader", "agent"])
    assert np.isfinite(choice.gain([1.0, -1.0]))
    assert ModeChoice.model_validate_json(choice.model_dump_json()) == choice
    assert choice.modes == ("agent", "reader")


@pytest.mark.parametrize(
    ("values", "gain"),
    [
        (np.zeros((0, 2)), np.zeros(0)),
        (np.zeros((3, 1)), np.zeros(3)),
        (np.full((3, 2), np.nan), np.zeros(3)),
        (np.zeros((3, 2)), np.full(3, np.inf)),
    ],
)
def test_what_cannot_be_learned_from_is_refused(values, gain) -> None:
    with pytest.raises(ValueError, match=r"signals have shape|not finite"):
        fit_mode_choice(NAMES, values, gain, ["reader"])

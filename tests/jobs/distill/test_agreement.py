from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.distill.agreement import agreement, kendall_by_group
from pipeline.features.groups import Groups
from pipeline.features.taught import Taught, grades

pytestmark = pytest.mark.flash


def taught(*groups: list[float]) -> Taught:
    scores = np.array([score for group in groups for score in group], np.float64)
    sizes = np.array([len(group) for group in groups])
    names = [f"h{k}" for k in range(len(groups))]
    groups = Groups(np.zeros((len(scores), 1), np.float32), grades(scores), sizes, names, names, 0, 0)
    return Taught(groups, scores, 0, 0)


def pairs(teacher: np.ndarray, scores: np.ndarray) -> float:
    """Tau-b by its definition: all pairs."""
    upper = np.triu_indices(len(teacher), 1)
    ours, theirs = (np.sign(each[:, None] - each)[upper] for each in (scores, teacher))
    return float((ours * theirs).sum() / np.sqrt((ours**2).sum() * (theirs**2).sum()))


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=2, max_size=30))
def test_kendall_s_tau_is_that_of_all_pairs_within_a_group(rated):
    teacher, scores = (np.array(each, float) for each in zip(*rated, strict=True))
    sizes = np.array([len(rated), 2])
    found = kendall_by_group(np.array([*teacher, 1.0, 2.0]), np.array([*scores, 5.0, 6.0]), sizes)
    if np.ptp(teacher) == 0:
        assert np.isnan(found[0])
    elif np.ptp(scores) == 0:
        assert found[0] == 0
    else:
        assert found[0] == pytest.approx(pairs(teacher, scores), abs=1e-9)
    assert found[1] == pytest.approx(1)


def test_an_order_that_knows_nothing_has_no_tau_and_the_teacher_s_own_has_both_whole():
    known = taught([0.0, 9.0, 5.0], [8.0, 1.0])
    own = agreement("own", known, known.scores)
    assert (own.kendall_tau.value, own.ndcg_64.value) == (pytest.approx(1), pytest.approx(1))
    backwards = agreement("backwards", known, -known.scores)
    assert backwards.kendall_tau.value == pytest.approx(-1)
    assert backwards.ndcg_64.value < 1
    assert agreement("none", known, np.zeros(5)).kendall_tau.value == 0


def test_a_request_that_the_teacher_rates_all_alike_does_not_count():
    alike = taught([9.0, 1.0], [5.0, 5.0, 5.0])
    assert agreement("own", alike, alike.scores).kendall_tau.value == pytest.approx(1)
    assert agreement("none", taught([5.0, 5.0]), np.arange(2.0)).kendall_tau.value is None

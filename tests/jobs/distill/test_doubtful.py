from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from jobs.config import load_profile
from jobs.distill.doubtful import believed, first_prior, log_ratios, posterior, rated
from jobs.distill.ways import DOUBTFUL, LAMBDARANK, POINTWISE, labels_of, params_of
from models.ranker import auc, fit
from pipeline.features.groups import Groups
from pipeline.features.taught import Taught, grades

pytestmark = pytest.mark.flash

LEXICAL = load_profile("lexical")
NAMES = LEXICAL.learned_features
SIZE, REQUESTS, HISTORIES = 100, 60, 6

ROWS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 10)), min_size=1, max_size=40)


def problem(sureness: float, seed: int = 0) -> tuple[Taught, np.ndarray]:
    """Requests with one candidate of SIZE that is evidence: the one whose two features add up to most, which the pool's
    order knows with noise. A teacher scores evidence higher by `sureness` deviations of its own noise."""
    generator = np.random.default_rng(seed)
    parts = generator.normal(size=(2, REQUESTS, SIZE))
    order = np.argsort(-(parts.sum(0) + 0.6 * generator.normal(size=(REQUESTS, SIZE))), axis=1)
    parts = np.stack([np.take_along_axis(part, order, axis=1) for part in parts])
    evidence = (parts.sum(0) == parts.sum(0).max(axis=1, keepdims=True)).ravel()
    matrix = generator.normal(size=(REQUESTS * SIZE, len(NAMES))).astype(np.float32)
    matrix[:, NAMES.index("pool_position")] = np.tile(np.arange(1, SIZE + 1), REQUESTS)
    for name, part in zip(("bm25_score", "cross_encoder"), parts, strict=True):
        matrix[:, NAMES.index(name)] = part.ravel()
    scores = 10 * ndtr(generator.normal(size=len(matrix)) + np.where(evidence, sureness, 0.0) - 1)
    histories = [f"h{request % HISTORIES}" for request in range(REQUESTS)]
    ids = [f"r{request}" for request in range(REQUESTS)]
    groups = Groups(matrix, grades(scores), np.full(REQUESTS, SIZE), ids, histories, 0, 0)
    return Taught(groups, scores, 0, 0), evidence


def found_first(way: str, taught: Taught) -> float:
    """The share of unseen requests whose first candidate is evidence, by a ranker of a way."""
    params = params_of(way, LEXICAL, taught)
    if params.early_stopping_rounds:
        params = params.model_copy(update={"trees": 60})
    groups = labels_of(way, LEXICAL, taught)
    ranker = fit(groups.matrix, groups.relevance, groups.group_sizes, NAMES, params)
    shares = []
    for seed in (1, 2, 3):
        unseen, evidence = problem(9.0, seed)
        scores = ranker.score(unseen.groups.matrix, NAMES).reshape(REQUESTS, SIZE)
        shares.append(evidence.reshape(REQUESTS, SIZE)[np.arange(REQUESTS), scores.argmax(axis=1)].mean())
    return float(np.mean(shares))


@given(ROWS)
def test_a_posterior_is_a_probability_and_a_higher_rating_never_lowers_it(rows):
    prior, ratings = (np.array(each) for each in zip(*rows, strict=True))
    found = posterior(prior, ratings)
    assert ((found >= 0) & (found <= 1)).all()
    alike = posterior(np.full(len(ratings), 0.1), ratings)
    assert (np.diff(alike[np.argsort(ratings)]) >= -1e-12).all()


@given(ROWS)
def test_what_a_rating_says_never_falls(rows):
    evidence, ratings = (np.array(each) for each in zip(*rows, strict=True))
    assert (np.diff(log_ratios(ratings, evidence)) >= 0).all()


def test_a_first_prior_is_a_probability_that_falls_with_the_place_and_scores_go_to_the_next_whole_rating():
    found = first_prior(np.arange(1, 257))
    assert (np.diff(found) < 0).all()
    assert 1 < found.sum() < 3
    assert rated(np.array([0.0, 0.4, 6.6, 10.0])).tolist() == [0, 0, 7, 10]


def test_ratings_that_are_all_alike_say_nothing():
    prior = first_prior(np.arange(1, 30))
    assert posterior(prior, np.full(29, 7)) == pytest.approx(prior, abs=1e-6)


def test_of_a_teacher_that_is_often_wrong_it_believes_what_other_histories_bear_out():
    taught, evidence = problem(1.8)
    found = believed(taught, NAMES, params_of(DOUBTFUL, LEXICAL, taught))
    assert ((found >= 0) & (found <= 1)).all()
    assert auc(evidence, found) > auc(evidence, taught.scores) + 0.03
    assert abs(found.sum() - evidence.sum()) < evidence.sum()


def test_it_recovers_from_noise_what_the_other_ways_do_not():
    taught, _ = problem(1.8)
    shares = {way: found_first(way, taught) for way in (POINTWISE, LAMBDARANK, DOUBTFUL)}
    assert shares[DOUBTFUL] > max(shares[POINTWISE], shares[LAMBDARANK]) + 0.02, shares


def test_a_teacher_that_is_always_right_is_believed_and_learned_from_as_labels_are():
    taught, evidence = problem(9.0)
    assert auc(evidence, believed(taught, NAMES, params_of(DOUBTFUL, LEXICAL, taught))) > 0.999
    labels = replace(taught.groups, relevance=evidence.astype(np.int32))
    by_labels = found_first(LAMBDARANK, replace(taught, groups=labels))
    assert found_first(DOUBTFUL, taught) > by_labels - 0.02


@pytest.mark.parametrize("histories", [1, 2, HISTORIES])
def test_one_history_is_enough(histories):
    taught, evidence = problem(1.8)
    names = [f"h{request % histories}" for request in range(REQUESTS)]
    found = believed(
        replace(taught, groups=replace(taught.groups, history_ids=names)), NAMES, params_of(DOUBTFUL, LEXICAL, taught)
    )
    assert auc(evidence, found) > 0.9


def test_small_trees_of_a_fixed_number_unless_the_profile_says_otherwise():
    taught, _ = problem(1.8)
    params = params_of(DOUBTFUL, LEXICAL.model_copy(update={"ranker": type(LEXICAL.ranker)()}), taught)
    assert (params.objective, params.num_leaves, params.early_stopping_rounds) == ("cross_entropy", 3, 0)
    own = LEXICAL.ranker.model_copy(update={"num_leaves": 9})
    assert params_of(DOUBTFUL, LEXICAL.model_copy(update={"ranker": own}), taught).num_leaves == 9

"""Fits of a cross-validation on a real Ray: what a fold sees, what it is scored by, and that workers change nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from cluster import rayenv
from jobs.run import Resources
from jobs.train.fitting import CrossFitted, Variant, cross_fit
from jobs.train.folds import assign
from models.ranker import auc, fit
from models.ranker_params import RankerParams
from pipeline.features.groups import Groups

pytestmark = pytest.mark.cluster

NAMES = ("good", "noise", "whose")
PARAMS = RankerParams(trees=20, num_leaves=4, min_data_in_leaf=2)
STOPPING = PARAMS.model_copy(update={"trees": 60, "early_stopping_rounds": 5, "bagging_fraction": 0.8})
ALL = Variant("ranker", NAMES)


def groups(histories: int = 7, requests: int = 6, rows: int = 8) -> Groups:
    """Groups whose first feature tells the evidence, the second nothing; by the third a history could be learned by
    heart: its evidence stands where no other's does."""
    rng = np.random.default_rng(0)
    count = histories * requests
    history = np.repeat(np.arange(histories), requests)
    relevance = np.zeros((count, rows), np.int32)
    relevance[np.arange(count), history % rows] = 1
    good = relevance + rng.normal(0, 0.5, relevance.shape)
    whose = 100.0 * history[:, None] + np.arange(rows)
    matrix = np.stack([good, rng.normal(size=good.shape), whose], axis=-1)
    return Groups(
        matrix=np.ascontiguousarray(matrix.reshape(-1, 3), np.float32),
        relevance=relevance.reshape(-1),
        group_sizes=np.full(count, rows, np.int64),
        request_ids=[f"r{number:03}" for number in range(count)],
        history_ids=[f"h{number:02}" for number in history],
        n_requests_without_labels=0,
        n_requests_without_evidence_in_pool=0,
    )


DATA = groups()
FOLDS = assign(DATA.history_ids, 3)
OF_ROW = np.repeat([FOLDS[name] for name in DATA.history_ids], DATA.group_sizes)


@pytest.fixture(scope="module", autouse=True)
def local_ray() -> Iterator[None]:
    with rayenv.session(workers=2):
        yield


def fitted(*variants: Variant, params: RankerParams = PARAMS, workers: int = 2, seed: int = 0) -> list[CrossFitted]:
    return cross_fit(DATA, NAMES, variants, params, FOLDS, "lexical", Resources(workers), seed)


def test_a_fold_is_scored_by_the_ranker_of_all_the_others():
    [found] = fitted(ALL)
    sizes = DATA.group_sizes
    for fold in range(3):
        inside = np.array([FOLDS[name] == fold for name in DATA.history_ids])
        rows = np.repeat(~inside, sizes)
        expected = fit(DATA.matrix[rows], DATA.relevance[rows], sizes[~inside], NAMES, PARAMS)
        assert found.rankers[fold].identity == expected.identity
        np.testing.assert_array_equal(found.scores[~rows], expected.score(DATA.matrix[~rows], NAMES))


def test_what_is_learned_by_heart_does_not_show_out_of_fold():
    by_heart, of_use = fitted(Variant("by heart", ("whose",)), Variant("of use", ("good",)))
    seen = fit(DATA.matrix[:, 2:], DATA.relevance, DATA.group_sizes, ("whose",), PARAMS)
    assert auc(DATA.relevance, seen.score(DATA.matrix[:, 2:], ("whose",))) > 0.9
    assert auc(DATA.relevance, by_heart.scores) < 0.6
    assert auc(DATA.relevance, of_use.scores) > 0.8


@pytest.mark.parametrize("params", [PARAMS, STOPPING], ids=["recipe", "early stopping"])
def test_one_worker_and_two_give_the_same_bit_for_bit(params):
    variants = [ALL, Variant("half", NAMES, 0.5)]
    for one, two in zip(fitted(*variants, params=params, workers=1), fitted(*variants, params=params), strict=True):
        assert [ranker.model_text for ranker in one.rankers] == [ranker.model_text for ranker in two.rankers]
        assert one.scores.tobytes() == two.scores.tobytes()
        assert one.best_trees == two.best_trees


def test_a_fold_is_scored_with_as_many_trees_as_the_other_folds_found_best():
    [found] = fitted(ALL, params=STOPPING)
    best = found.best_trees
    assert all(1 <= count <= 60 for count in best)
    trees = [ranker.params.trees for ranker in found.rankers]
    assert trees == [round((best[1] + best[2]) / 2), round((best[0] + best[2]) / 2), round((best[0] + best[1]) / 2)]
    assert found.trees == round(sum(best) / 3)


def test_without_early_stopping_every_fold_has_all_the_trees():
    [found] = fitted(ALL)
    assert (found.best_trees, found.trees) == ((20, 20, 20), 20)


def test_a_share_of_the_histories_is_part_of_a_larger_one_and_goes_by_the_seed():
    few, more, everything = fitted(Variant("few", NAMES, 0.25), Variant("more", NAMES, 0.75), ALL)
    assert few.n_histories < more.n_histories < everything.n_histories
    assert everything.n_histories == pytest.approx(7 * 2 / 3)
    [other] = fitted(Variant("few", NAMES, 0.25), seed=1)
    assert [ranker.identity for ranker in other.rankers] != [ranker.identity for ranker in few.rankers]


def test_a_variant_knows_its_features_and_no_other():
    [found] = fitted(Variant("two", ("whose", "good")))
    assert {ranker.feature_names for ranker in found.rankers} == {("whose", "good")}

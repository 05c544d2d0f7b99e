"""Slates of other orders are as complete as a run would make them, and are judged as evaluate judges."""

from __future__ import annotations

import polars as pl
import pytest
from inside import ran

from jobs.evaluate import evaluate
from jobs.run import Resources
from jobs.train.data import data_digest, gather
from jobs.train.features import make_features
from jobs.train.judge import OUTCOMES, RECALL, judge
from jobs.train.scoring import ByFold, by_one
from models.ranker import LightGBMRanker, fit
from models.ranker_params import RankerParams
from pipeline.evaluate.by_history import shares
from pipeline.features.groups import Groups, training_groups

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("shared_ray")]

TWO = Resources(workers=2)


@pytest.fixture(scope="module")
def groups(labelled, tight, shared_ray) -> Groups:
    make_features(labelled, tight, TWO)
    return training_groups(*gather(labelled, tight), tight.features)


@pytest.fixture(scope="module")
def rankers(groups, tight) -> list[LightGBMRanker]:
    """Two that order otherwise, and have seen nothing that an evaluation would leave out."""
    params = RankerParams(trees=5, min_data_in_leaf=2)
    against = groups.relevance.max() - groups.relevance
    return [
        fit(groups.matrix, labels, groups.group_sizes, tight.features, params, profile=tight.name)
        for labels in (groups.relevance, against)
    ]


def test_an_order_is_as_complete_as_the_slates_of_a_run_with_that_ranker(labelled, tight, groups, rankers):
    histories = set(groups.history_ids)
    found = judge(labelled, tight, {"lambdarank": by_one(rankers[0], histories)}, histories, TWO)
    assert found.schema == OUTCOMES
    ran(labelled, tight, rankers[0], workers=2)
    measured, _ = evaluate(labelled, tight.name, None, draws=100, seed=0)
    expected = {
        (row.policy, row.budget, row.stratum): (row.n, row.r_pool.value, row.r_rank.value, row.slate_completeness.value)
        for row in measured.rows
        if row.policy in ("lambdarank", RECALL) and row.stratum in ("all", "kappa >= 2")
    }
    judged = {
        (row.policy, row.budget, row.stratum): (row.n, row.r_pool.value, row.r_rank.value, row.slate_completeness.value)
        for row in shares(found, RECALL, draws=100, seed=0)
    }
    assert judged == expected
    assert 0 < judged["lambdarank", 100, "all"][3] < 1


def test_each_history_is_judged_by_the_ranker_of_its_fold(labelled, tight, groups, rankers):
    histories = sorted(set(groups.history_ids))
    fold_of = {name: number % 2 for number, name in enumerate(histories)}
    mixed = ByFold(tuple(rankers), fold_of)
    scorers = {"mixed": mixed, "0": by_one(rankers[0], histories), "1": by_one(rankers[1], histories)}
    found = judge(labelled, tight, scorers, histories, TWO).with_columns(
        fold=pl.col("history_id").replace_strict(fold_of, return_dtype=pl.Int64).cast(pl.String)
    )
    key = ["history_id", "request_id", "budget"]
    of_fold = found.filter(pl.col("policy") == pl.col("fold")).sort(key)
    of_mixed = found.filter(pl.col("policy") == "mixed").sort(key)
    assert of_mixed.drop("policy").equals(of_fold.drop("policy"))
    assert found.filter(pl.col("policy") == "0").sort(key)["slate_complete"].to_list() != (
        found.filter(pl.col("policy") == "1").sort(key)["slate_complete"].to_list()
    )


def test_of_other_histories_than_asked_for_nothing_is_said_and_a_smaller_pool_holds_less(
    labelled, tight, groups, rankers
):
    some = sorted(set(groups.history_ids))[:5]
    found = judge(labelled, tight, {"ranker": by_one(rankers[0], some)}, some, TWO, "ranker", [1, 8, 128])
    assert set(found["history_id"]) == set(some)
    in_pool = {
        policy: rows["pool_complete"].mean() for (policy,), rows in found.group_by("policy")
    }  # fmt: skip
    assert in_pool["pool 1"] < in_pool["pool 8"] <= in_pool["pool 128"] == in_pool["ranker"]
    whole, cut = (found.filter(pl.col("policy") == name).drop("policy") for name in ("ranker", "pool 128"))
    assert whole.sort(whole.columns).equals(cut.sort(cut.columns))


def test_workers_change_nothing(labelled, tight, groups, rankers):
    histories = set(groups.history_ids)
    one, two = (
        judge(labelled, tight, {"ranker": by_one(rankers[0], histories)}, histories, Resources(workers))
        for workers in (1, 2)
    )
    assert one.equals(two)


def test_the_digest_of_the_data_changes_with_a_label_a_value_and_a_name(groups, tight):
    names = tight.features
    digest = data_digest(groups, names)
    assert digest == data_digest(groups, names)
    other = groups.matrix.copy()
    other[0, 0] += 1
    changed = [
        data_digest(Groups(**{**vars(groups), "matrix": other}), names),
        data_digest(Groups(**{**vars(groups), "relevance": 1 - groups.relevance}), names),
        data_digest(groups, names[::-1]),
    ]
    assert len({digest, *changed}) == 4

"""Numbers of a cross-validation, by fold and over all."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from jobs.train.crossval import RANKER, cross_validation
from jobs.train.fitting import CrossFitted, Variant
from jobs.train.judge import RECALL
from models.ranker import LightGBMRanker
from models.ranker_params import RankerParams
from pipeline.features.groups import Groups

pytestmark = pytest.mark.flash

FOLDS = {"h0": 0, "h1": 1}
RANKERS = (LightGBMRanker("", ("a",), RankerParams(), "lexical"),) * 2


def groups() -> Groups:
    """Two histories of two groups of three candidates; the second is evidence, the third never."""
    return Groups(
        matrix=np.zeros((12, 1), np.float32),
        relevance=np.tile([0, 1, 0], 4).astype(np.int32),
        group_sizes=np.full(4, 3, np.int64),
        request_ids=["r0", "r1", "r2", "r3"],
        history_ids=["h0", "h0", "h1", "h1"],
        n_requests_without_labels=0,
        n_requests_without_evidence_in_pool=0,
    )


def outcomes(complete: dict[str, list[bool]]) -> pl.DataFrame:
    """Of each history one request after the other, under the ranker; recall order completes nothing."""
    rows = [
        (history, f"r{number}", policy, 900, 1, True, flag and policy == RANKER)
        for history, flags in complete.items()
        for number, flag in enumerate(flags)
        for policy in (RANKER, RECALL)
    ]
    names = ["history_id", "request_id", "policy", "budget", "kappa", "pool_complete", "slate_complete"]
    return pl.DataFrame(rows, schema=names, orient="row")


def test_a_fold_is_told_by_its_own_rows_and_all_by_all():
    first_right = np.array([0.0, 1.0, 0.0, 0.0, 1.0, 0.0])
    second_wrong = np.array([1.0, 0.0, 0.5, 1.0, 0.0, 0.5])
    fitted = CrossFitted(Variant(RANKER, ("a",)), RANKERS, np.concatenate([first_right, second_wrong]), (10, 30), 1.0)
    found = cross_validation(groups(), fitted, FOLDS, outcomes({"h0": [True, True], "h1": [False, True]}), RECALL)
    assert [fold.ndcg_10 for fold in found.folds] == pytest.approx([1.0, 0.5])
    assert [fold.auc for fold in found.folds] == [1.0, 0.0]
    assert [fold.complete for fold in found.folds] == [{900: 1.0}, {900: 0.5}]
    assert found.ndcg_10.value == pytest.approx(0.75)
    assert found.recall_ndcg_10 == pytest.approx(1 / np.log2(3)), "the evidence is second in the pool"
    assert found.trees == 20
    row = next(row for row in found.rows if (row.policy, row.stratum) == (RANKER, "all"))
    assert (row.slate_completeness.value, row.difference.value) == (0.75, 0.75)


def test_a_history_without_evidence_in_a_pool_counts_among_all_and_is_in_no_fold():
    fitted = CrossFitted(Variant(RANKER, ("a",)), RANKERS, np.zeros(12), (10, 30), 1.0)
    judged = outcomes({"h0": [True, True], "h1": [False, True], "lost": [False, False]})
    found = cross_validation(groups(), fitted, FOLDS, judged, RECALL)
    assert [fold.complete for fold in found.folds] == [{900: 1.0}, {900: 0.5}]
    row = next(row for row in found.rows if (row.policy, row.stratum) == (RANKER, "all"))
    assert (row.n, row.n_histories, row.slate_completeness.value) == (6, 3, 0.5)

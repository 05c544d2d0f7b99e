"""Cross-validation: how a ranker does on histories that it has not seen, by fold and over all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from jobs.train.fitting import CrossFitted
from models.ranker import auc, ndcg_by_group
from models.ranker_params import JUDGED_AT
from pipeline.evaluate.bootstrap import Estimate, clustered_mean
from pipeline.evaluate.by_history import Shares, shares
from pipeline.evaluate.summary import metric_name
from pipeline.features.groups import Groups

DRAWS = 2_000
SEED = 0

RANKER = "ranker"
"""The name of the ranker itself, all features, among variants and policies."""


@dataclass(frozen=True)
class Fold:
    """One fold: what lies in it, how its candidates were ranked, and the share of its slates that are complete, at each
    budget, over requests of any kappa."""

    n_histories: int
    n_groups: int
    best_trees: int
    ndcg_10: float
    auc: float
    complete: Mapping[int, float]


@dataclass(frozen=True)
class CrossValidation:
    """Numbers out of fold, of groups (nDCG, AUC) and of all labelled requests (rows); nDCG with its interval."""

    folds: tuple[Fold, ...]
    n_groups: int
    n_histories: int
    ndcg_10: Estimate
    recall_ndcg_10: float
    auc: float
    rows: tuple[Shares, ...]
    trees: int

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        return asdict(self)

    def metrics(self) -> dict[str, float]:
        """Point values by name, as pipeline.evaluate.summary names them, each after `cv_`."""
        named = {"cv_ndcg_10": self.ndcg_10.value, "cv_auc": self.auc, "cv_recall_ndcg_10": self.recall_ndcg_10}
        for row in self.rows:
            for metric in ("r_pool", "r_rank", "slate_completeness"):
                name = metric_name(row.stratum, row.policy, row.budget, metric)
                named[f"cv_{name}"] = getattr(row, metric).value
        return {name: value for name, value in named.items() if value is not None}


def ndcg(groups: Groups, scores: Any) -> Estimate:
    """nDCG at 10 of groups by scores of their rows, with its interval over histories."""
    by_group = ndcg_by_group(JUDGED_AT, groups.relevance, scores, groups.group_sizes)
    _, histories = np.unique(groups.history_ids, return_inverse=True)
    return clustered_mean(by_group, histories, DRAWS, np.random.default_rng(SEED))


def cross_validation(
    groups: Groups, fitted: CrossFitted, fold_of: Mapping[str, int], outcomes: pl.DataFrame, against: str
) -> CrossValidation:
    """Sums up the folds of the ranker itself.

    `outcomes` (jobs.train.judge) hold the policies RANKER and `against`, the one that it is compared with.
    """
    by_group = ndcg_by_group(JUDGED_AT, groups.relevance, fitted.scores, groups.group_sizes)
    in_pool_order = ndcg_by_group(JUDGED_AT, groups.relevance, np.zeros(len(groups.relevance)), groups.group_sizes)
    fold = np.array([fold_of[name] for name in groups.history_ids])
    rows = np.repeat(fold, groups.group_sizes)
    complete = _complete(outcomes, fold_of)
    folds = tuple(
        Fold(
            n_histories=sum(of == number for of in fold_of.values()),
            n_groups=int((fold == number).sum()),
            best_trees=fitted.best_trees[number],
            ndcg_10=float(by_group[fold == number].mean()),
            auc=auc(groups.relevance[rows == number], fitted.scores[rows == number]),
            complete=complete.get(number, {}),
        )
        for number in range(len(fitted.rankers))
    )
    kept = outcomes.filter(pl.col("policy").is_in([RANKER, against]))
    return CrossValidation(
        folds=folds,
        n_groups=len(groups.group_sizes),
        n_histories=len(fold_of),
        ndcg_10=ndcg(groups, fitted.scores),
        recall_ndcg_10=float(in_pool_order.mean()),
        auc=auc(groups.relevance, fitted.scores),
        rows=tuple(shares(kept, against, DRAWS, SEED)),
        trees=fitted.trees,
    )


def _complete(outcomes: pl.DataFrame, fold_of: Mapping[str, int]) -> dict[int, dict[int, float]]:
    """Slate completeness of the ranker by fold and budget. A history without evidence in a pool is in no fold."""
    fold = pl.col("history_id").replace_strict(fold_of, default=None, return_dtype=pl.Int64)
    of_ranker = outcomes.filter(pl.col("policy") == RANKER).with_columns(fold=fold).drop_nulls("fold")
    means = of_ranker.group_by("fold", "budget").agg(pl.col("slate_complete").mean()).sort("fold", "budget")
    found: dict[int, dict[int, float]] = {}
    for fold, budget, mean in means.iter_rows():
        found.setdefault(fold, {})[budget] = mean
    return found


def by_policy(rows: Sequence[Shares], stratum: str, budget: int) -> dict[str, Shares]:
    """The rows of one stratum and budget by policy."""
    return {row.policy: row for row in rows if (row.stratum, row.budget) == (stratum, budget)}

"""Scores of each history by the ranker that is to judge it: out of fold, by the one that has not seen it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from models.ranker import LightGBMRanker
from pipeline.policies.orders import feature_matrix


@dataclass(frozen=True)
class ByFold:
    """Rankers, and which of them (`fold_of`) scores each history."""

    rankers: tuple[LightGBMRanker, ...]
    fold_of: Mapping[str, int]

    def scores(self, features: pl.DataFrame) -> npt.NDArray[np.float64]:
        """Scores of the rows of a features table, shape (rows,), whose histories must all have a fold."""
        folds = features["history_id"].replace_strict(self.fold_of, return_dtype=pl.Int64).to_numpy()
        found = np.zeros(features.height, np.float64)
        for fold in np.unique(folds):
            rows, names = folds == fold, self.rankers[fold].feature_names
            found[rows] = self.rankers[fold].score(feature_matrix(features.filter(rows), names), names)
        return found


def by_one(ranker: LightGBMRanker, history_ids: Collection[str]) -> ByFold:
    """One ranker for all of the histories."""
    return ByFold((ranker,), dict.fromkeys(history_ids, 0))

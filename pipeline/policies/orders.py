"""Policies: each is one order of a request's candidates, and a score to show beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from models.interfaces import Ranker
from pipeline import schemas

Scores = npt.NDArray[np.float64]

_TURN = ("session_index", "turn_index")


class PolicyError(ValueError):
    """A policy cannot be used with this profile."""


@dataclass(frozen=True)
class Ordered:
    """Rows of a features table in the order of a policy, request by request, and a score by row (NaN: none)."""

    rows: npt.NDArray[np.int64]
    scores: Scores


Order = Callable[[pl.DataFrame], Ordered]


def recall_order(features: pl.DataFrame) -> Ordered:
    """The order of the pool."""
    return _ordered(features, np.full(features.height, np.nan), "pool_position")


def bm25_order(features: pl.DataFrame) -> Ordered:
    """By BM25 rank."""
    return _ordered(features, _column(features, "bm25_score"), "bm25_rank")


def dense_order(features: pl.DataFrame) -> Ordered:
    """By dense rank; a turn without a vector comes last."""
    return _ordered(features, _column(features, "dense_score"), "dense_rank")


def oracle_order(features: pl.DataFrame) -> Ordered:
    """Gold first (column `gold`), then the order of the pool: the upper bound of every policy."""
    return _ordered(features, _column(features, "gold"), "pool_position", scores_first=True)


def mark_gold(features: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """The features with the column `gold` that oracle_order reads: 1 for evidence, else 0."""
    gold = labels.unique().with_columns(gold=pl.lit(1.0))
    marked = features.join(gold, on=[*schemas.REQUEST_KEY, *_TURN], how="left", maintain_order="left")
    return marked.with_columns(pl.col("gold").fill_null(0.0))


def score_order(scores_of: Callable[[pl.DataFrame], Scores]) -> Order:
    """By a score of each row, rounded to 1e-6; ties by pool position."""

    def order(features: pl.DataFrame) -> Ordered:
        return _ordered(features, np.round(scores_of(features), 6), "pool_position", scores_first=True)

    return order


def lambdarank_order(ranker: Ranker) -> Order:
    """By the ranker's score. The features must hold those of the ranker."""
    names = ranker.feature_names
    return score_order(lambda features: ranker.score(feature_matrix(features, names), names))


def feature_matrix(features: pl.DataFrame, names: Sequence[str]) -> npt.NDArray[np.float32]:
    """Features as a ranker takes them: float32, shape (rows, len(names)), NaN where there is none."""
    matrix = features.select(pl.col(name).cast(pl.Float32).fill_null(float("nan")) for name in names).to_numpy()
    return np.ascontiguousarray(matrix)


ORDERS: dict[str, Order] = {"recall_order": recall_order, "bm25_order": bm25_order, "dense_order": dense_order}
"""The policies that need nothing but features."""


def _column(features: pl.DataFrame, name: str) -> Scores:
    return features[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _ordered(features: pl.DataFrame, scores: Scores, key: str, scores_first: bool = False) -> Ordered:
    """Sorts within requests, which stand together in `features`: by score (highest first) if asked, then by `key`."""
    request = features.select(pl.struct("history_id", "request_id").rle_id()).to_series().to_numpy()
    position = features["pool_position"].cast(pl.Float64).to_numpy()
    secondary = np.nan_to_num(_column(features, key), nan=np.inf)
    keys = [position, secondary, -scores, request] if scores_first else [position, secondary, request]
    return Ordered(np.lexsort(keys), scores)

"""Orders of a request's candidates, each with a score to show beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from models.interfaces import Ranker
from pipeline import schemas
from pipeline.recall.fusion import DECIMALS

Scores = npt.NDArray[np.float64]

LLM_TOP = 64
"""Candidates of each pool that the reference reranker has a language model rate (AgentMemRec, appendix B)."""

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


def channel_order(channel: str) -> Order:
    """By a channel's rank; the turns that it did not recall come last, in the order of the pool."""

    def order(features: pl.DataFrame) -> Ordered:
        return _ordered(features, _column(features, f"{channel}_score"), f"{channel}_rank")

    return order


def ranking_order(ranking: pl.DataFrame) -> Ordered:
    """The order of an imported ranking, whose rows are those of `ranking_candidates`."""
    return _ordered(ranking, _column(ranking, "score"), "pool_position")


def ranking_candidates(ranking: pl.DataFrame, turns: pl.DataFrame) -> pl.DataFrame:
    """The rows of a ranking (RANKINGS) whose turns are among `turns`, with the `pool_position` of each in its request.

    By score, rounded to 1e-6, the highest first; of equal ones the earlier turn.
    """
    there = ranking.join(turns.select(schemas.TURN_KEY), on=schemas.TURN_KEY, how="semi")
    ordered = there.with_columns(pl.col("score").round(DECIMALS)).sort(
        *schemas.REQUEST_KEY, "score", *_TURN, descending=[False, False, True, False, False]
    )
    return ordered.with_columns(pool_position=pl.int_range(1, pl.len() + 1).over(schemas.REQUEST_KEY))


def oracle_order(features: pl.DataFrame) -> Ordered:
    """Gold first (column `gold`), then the order of the pool: the upper bound of every policy."""
    return _ordered(features, _column(features, "gold"), "pool_position", scores_first=True)


def mark_gold(features: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """The features with the column `gold` that oracle_order reads: 1 for evidence, else 0."""
    gold = labels.unique().with_columns(gold=pl.lit(1.0))
    marked = features.join(gold, on=[*schemas.REQUEST_KEY, *_TURN], how="left", maintain_order="left")
    return marked.with_columns(pl.col("gold").fill_null(0.0))


def score_order(scores_of: Callable[[pl.DataFrame], Scores]) -> Order:
    """By a score of each row, rounded to 1e-6; ties by pool position, and rows without a score come last."""

    def order(features: pl.DataFrame) -> Ordered:
        return _ordered(features, np.round(scores_of(features), DECIMALS), "pool_position", scores_first=True)

    return order


def lambdarank_order(ranker: Ranker) -> Order:
    """By the ranker's score. The features must hold those of the ranker."""
    names = ranker.feature_names
    return score_order(lambda features: ranker.score(feature_matrix(features, names), names))


def cross_encoder_order(features: pl.DataFrame) -> Ordered:
    """By the cross-encoder's score, the feature `cross_encoder`."""
    return score_order(lambda features: _column(features, "cross_encoder"))(features)


def llm_order(candidates: pl.DataFrame) -> Ordered:
    """The first LLM_TOP of each pool by what a language model rated them (`teacher_score`), then the rest as it stands.

    The reference reranker of AgentMemRec (arXiv 2610.34673, 6.1). Equal scores go by pool position; a candidate without
    one comes before the rest.
    """
    in_head = (candidates["pool_position"] <= LLM_TOP).to_numpy()
    rated = np.where(in_head, _column(candidates, "teacher_score"), np.nan)
    return score_order(lambda _: rated)(candidates)


def feature_matrix(features: pl.DataFrame, names: Sequence[str]) -> npt.NDArray[np.float32]:
    """Features as a ranker takes them: float32, shape (rows, len(names)), NaN where there is none."""
    matrix = features.select(pl.col(name).cast(pl.Float32).fill_null(float("nan")) for name in names).to_numpy()
    return np.ascontiguousarray(matrix)


def _column(features: pl.DataFrame, name: str) -> Scores:
    if name not in features.columns:
        raise PolicyError(f"no policy can order by {name}: the features of this profile have no such column")
    return features[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _ordered(features: pl.DataFrame, scores: Scores, key: str, scores_first: bool = False) -> Ordered:
    """Sorts within requests, which stand together in `features`: by score (highest first) if asked, then by `key`."""
    request = features.select(pl.struct("history_id", "request_id").rle_id()).to_series().to_numpy()
    position = features["pool_position"].cast(pl.Float64).to_numpy()
    secondary = np.nan_to_num(_column(features, key), nan=np.inf)
    keys = [position, secondary, -scores, request] if scores_first else [position, secondary, request]
    return Ordered(np.lexsort(keys), scores)

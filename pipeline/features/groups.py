"""Training data: candidates of requests as the groups of a ranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from pipeline.schemas import REQUEST_KEY, TURN_KEY

MAX_GROUP_ROWS = 10_000
"""LightGBM refuses a larger group."""


@dataclass(frozen=True)
class Groups:
    """Candidates in rows, those of one request (a group) following each other in pool order.

    `matrix` has shape (rows, features), NaN where a feature is null; `relevance` is 1 for evidence, else 0, or what a
    teacher says (pipeline.features.taught); `group_sizes`, `request_ids` and `history_ids` have one entry a group, and
    group_sizes sum to the rows.
    """

    matrix: npt.NDArray[np.float32]
    relevance: npt.NDArray[np.int32 | np.float64]
    group_sizes: npt.NDArray[np.int64]
    request_ids: list[str]
    history_ids: list[str]
    n_requests_without_labels: int
    n_requests_without_evidence_in_pool: int


def training_groups(features: pa.Table, labels: pa.Table, feature_names: Sequence[str]) -> Groups:
    """Groups to train a ranker on, sorted by history_id, request_id and pool_position.

    `features` has the schema FEATURES (or more features), `labels` the schema LABELS. Requests without labels
    and requests whose pool holds no evidence teach an order of nothing: they are left out and counted. Raises
    ValueError when a feature is unknown, a candidate is there twice, or a group has more than 10,000 rows.
    """
    request = list(REQUEST_KEY)
    evidence = pl.DataFrame(pl.from_arrow(labels)).unique([*request, *TURN_KEY[1:]])
    candidates = pl.DataFrame(pl.from_arrow(features))
    require_candidates(candidates, feature_names)
    labelled = candidates.join(evidence.select(request).unique(), on=request, how="semi")
    rows = labelled.join(
        evidence.select(*request, *TURN_KEY[1:], relevance=pl.lit(1, pl.Int32)),
        on=[*request, *TURN_KEY[1:]],
        how="left",
    ).with_columns(pl.col("relevance").fill_null(0))
    kept = rows.filter((pl.col("relevance").max() > 0).over(request)).sort(*request, "pool_position")
    n_labelled = labelled.select(request).n_unique()
    without_labels = candidates.select(request).n_unique() - n_labelled
    return grouped(kept, feature_names, without_labels, n_labelled - kept.select(request).n_unique())


def require_candidates(candidates: pl.DataFrame, feature_names: Sequence[str]) -> None:
    """Raises ValueError where a frame lacks one of these features, or holds a candidate twice."""
    unknown = [name for name in feature_names if name not in candidates.columns]
    if unknown:
        raise ValueError(f"no such features: {unknown}; the table has {candidates.columns}")
    if candidates.select(pl.struct(*REQUEST_KEY, *TURN_KEY[1:]).is_duplicated().any()).item():
        raise ValueError("a candidate of a request is there twice: features of two runs or profiles were put together")


def grouped(
    rows: pl.DataFrame, feature_names: Sequence[str], without_labels: int = 0, without_evidence: int = 0
) -> Groups:
    """Groups of candidates that are sorted by request and have their `relevance`. Raises ValueError for a group of more
    than 10,000 rows."""
    groups = rows.group_by(REQUEST_KEY, maintain_order=True).len()
    return Groups(
        matrix=_matrix(rows, feature_names),
        relevance=rows["relevance"].to_numpy(),
        group_sizes=_checked_sizes(rows.select(pl.struct(REQUEST_KEY)).to_series(), groups["len"]),
        request_ids=groups["request_id"].to_list(),
        history_ids=groups["history_id"].to_list(),
        n_requests_without_labels=without_labels,
        n_requests_without_evidence_in_pool=without_evidence,
    )


def _matrix(rows: pl.DataFrame, feature_names: Sequence[str]) -> npt.NDArray[np.float32]:
    named = rows.select(pl.col(list(feature_names)).cast(pl.Float32).fill_null(float("nan")))
    return np.ascontiguousarray(named.to_numpy(), dtype=np.float32)


def _checked_sizes(request_of_row: pl.Series, sizes: pl.Series) -> npt.NDArray[np.int64]:
    """The group sizes, after a check that each group is one run of rows: a ranker takes sizes on trust."""
    checked = sizes.to_numpy().astype(np.int64)
    if not np.array_equal(request_of_row.rle().struct.field("len").to_numpy(), checked):
        raise ValueError("the rows of a request do not follow each other")
    if checked.max(initial=0) > MAX_GROUP_ROWS:
        raise ValueError(f"a request has {checked.max()} candidates; a ranker takes at most {MAX_GROUP_ROWS}")
    return checked

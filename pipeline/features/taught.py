"""Training data without labels: candidates as a teacher rated them, in groups of a ranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from pipeline.features.groups import Groups, grouped, require_candidates
from pipeline.schemas import LABELS, REQUEST_KEY

EDGES = (2.0, 4.0, 6.0, 8.0)
"""Scores from which the next grade begins: grade 0 is below 2, grade 4 from 8 on. More would tell noise apart."""

GAINS = tuple(float(2**grade - 1) for grade in range(len(EDGES) + 1))
"""What a candidate of each grade is worth (Jarvelin and Kekalainen 2002)."""


@dataclass(frozen=True)
class Taught:
    """Candidates with a score, in groups whose `relevance` is the grade; `scores` are the teacher's, shape (rows,).

    `n_unknown` scores name no candidate of these requests' pools, `n_failed` are null.
    """

    groups: Groups
    scores: npt.NDArray[np.float64]
    n_unknown: int
    n_failed: int


def grades(scores: npt.NDArray[np.floating]) -> npt.NDArray[np.int32]:
    """The grade of each score, from 0, shape as `scores`; a higher score never has a lower one."""
    return np.searchsorted(EDGES, scores, side="right").astype(np.int32)


def taught_groups(features: pa.Table, scores: pa.Table, feature_names: Sequence[str]) -> Taught:
    """Groups to distil from, sorted by history_id, request_id and pool_position.

    `features` has the schema FEATURES (or more features), `scores` the schema TEACHER_SCORES. A candidate without a
    score teaches nothing and is left out. Raises ValueError as pipeline.features.groups.training_groups, and where a
    candidate is rated twice.
    """
    key = LABELS.names
    candidates, rated = pl.DataFrame(pl.from_arrow(features)), pl.DataFrame(pl.from_arrow(scores))
    require_candidates(candidates, feature_names)
    if rated.select(pl.struct(key).is_duplicated().any()).item():
        raise ValueError("a candidate is rated twice: scores of two teachers or profiles were put together")
    known = rated.drop_nulls("score").select(*key, teacher_score=pl.col("score").cast(pl.Float64))
    rows = candidates.join(known, on=key, how="inner").sort(*REQUEST_KEY, "pool_position")
    of_rows = rows["teacher_score"].to_numpy()
    groups = grouped(rows.with_columns(relevance=pl.Series(grades(of_rows), dtype=pl.Int32)), feature_names)
    return Taught(groups, of_rows, known.height - rows.height, rated.height - known.height)

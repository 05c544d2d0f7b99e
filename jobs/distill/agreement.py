"""How far an order agrees with a teacher's, request by request."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import kendalltau

from jobs.train.crossval import DRAWS, SEED
from models.ranker import ndcg_by_group
from pipeline.evaluate.bootstrap import Estimate, clustered_mean
from pipeline.features.taught import Taught

DEPTH = 64
"""Candidates that the nDCG looks at: those that the reference reranker reads."""


@dataclass(frozen=True)
class Agreement:
    """Means over requests, with intervals over histories. `kendall_tau` is tau-b, -1 to 1, over the candidates that are
    rated; `ndcg_64` has the teacher's grades for gains."""

    name: str
    kendall_tau: Estimate
    ndcg_64: Estimate

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        return asdict(self)


def agreement(name: str, taught: Taught, scores: npt.NDArray[np.float64]) -> Agreement:
    """Of an order by `scores`, shape (rows,), with the teacher. A request that the teacher rates all alike tells
    nothing of either and counts in neither."""
    sizes, history_ids = taught.groups.group_sizes, taught.groups.history_ids
    tau = kendall_by_group(taught.scores, scores, sizes)
    ndcg = ndcg_by_group(DEPTH, taught.groups.relevance, scores, sizes)
    told = ~np.isnan(tau)
    return Agreement(name, _mean(tau, history_ids, told), _mean(ndcg, history_ids, told & ~np.isnan(ndcg)))


def kendall_by_group(
    teacher: npt.NDArray[np.float64], scores: npt.NDArray[np.float64], sizes: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Kendall's tau-b (1945) of two scores within each group, shape (groups,): 0 where `scores` are all alike, NaN
    where the teacher's are."""
    ends = np.cumsum(sizes)
    found = np.full(len(sizes), np.nan)
    for group, (start, end) in enumerate(zip(ends - sizes, ends, strict=True)):
        if np.ptp(teacher[start:end]) > 0:
            found[group] = np.nan_to_num(kendalltau(teacher[start:end], scores[start:end]).statistic)
    return found


def _mean(values: npt.NDArray[np.float64], history_ids: list[str], told: npt.NDArray[np.bool_]) -> Estimate:
    if not told.any():
        return Estimate()
    _, histories = np.unique(np.array(history_ids)[told], return_inverse=True)
    return clustered_mean(values[told], histories, DRAWS, np.random.default_rng(SEED))

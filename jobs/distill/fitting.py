"""The way `doubtful` by fold: what a fold learns from is estimated anew from the histories outside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cluster.parallel import gathered
from cluster.progress import shown
from cluster.report import StageReport
from jobs.config import Profile
from jobs.distill.ways import DOUBTFUL, labels_of, params_of
from jobs.run import Resources
from jobs.train.fitting import CrossFitted, Variant, cross_fit
from models.ranker import LightGBMRanker, fit
from pipeline.features.taught import Taught

_BYTES_A_TASK = 256 * 2**20
_COPIES = 4
"""What a task holds beside the libraries: its rows, those of the fit for a prior, LightGBM's bins of them."""


@dataclass(frozen=True)
class _Shared:
    taught: Taught
    profile: Profile
    fold: npt.NDArray[np.int64]


def cross_fit_way(
    way: str, taught: Taught, profile: Profile, fold_of: Mapping[str, int], resources: Resources
) -> CrossFitted:
    """Fits a way to the histories outside each fold, and scores those inside it, by jobs.train.fitting.cross_fit."""
    names, params = profile.learned_features, params_of(way, profile, taught)
    variant = Variant(way, names)
    if way != DOUBTFUL:
        labels = labels_of(way, profile, taught)
        return cross_fit(labels, names, [variant], params, fold_of, profile.name, resources)[0]
    fold = np.array([fold_of[name] for name in taught.groups.history_ids], np.int64)
    places = [(number,) for number in range(max(fold_of.values()) + 1)]
    memory = _BYTES_A_TASK + _COPIES * taught.groups.matrix.nbytes
    with shown(StageReport(f"{way} fits", total=len(places), unit="fits"), profile.name) as advance:
        fitted: list[tuple[LightGBMRanker, npt.NDArray[np.float64]]] = gathered(
            _fit,
            _Shared(taught, profile, fold),
            places,
            workers=resources.workers,
            address=resources.address,
            memory=memory,
            advance=advance,
        )
    scores = np.zeros(len(taught.scores), np.float64)
    for number, (_, of_fold) in enumerate(fitted):
        scores[np.repeat(fold == number, taught.groups.group_sizes)] = of_fold
    n_histories = [len({name for name, of in fold_of.items() if of != number}) for (number,) in places]
    rankers = tuple(ranker for ranker, _ in fitted)
    return CrossFitted(variant, rankers, scores, (params.trees,) * len(places), float(np.mean(n_histories)))


def _fit(shared: _Shared, number: int) -> tuple[LightGBMRanker, npt.NDArray[np.float64]]:
    names, outside = shared.profile.learned_features, shared.fold != number
    learned = _part(shared.taught, outside)
    groups = labels_of(DOUBTFUL, shared.profile, learned)
    params = params_of(DOUBTFUL, shared.profile, learned)
    ranker = fit(groups.matrix, groups.relevance, groups.group_sizes, names, params, profile=shared.profile.name)
    return ranker, ranker.score(
        shared.taught.groups.matrix[np.repeat(~outside, shared.taught.groups.group_sizes)], names
    )


def _part(taught: Taught, kept: npt.NDArray[np.bool_]) -> Taught:
    groups = taught.groups
    rows = np.repeat(kept, groups.group_sizes)
    part = replace(
        groups,
        matrix=groups.matrix[rows],
        relevance=groups.relevance[rows],
        group_sizes=groups.group_sizes[kept],
        request_ids=[name for name, keep in zip(groups.request_ids, kept, strict=True) if keep],
        history_ids=[name for name, keep in zip(groups.history_ids, kept, strict=True) if keep],
    )
    return replace(taught, groups=part, scores=taught.scores[rows])

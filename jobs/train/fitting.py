"""Fits of a cross-validation: one ranker for each variant and fold, each a task of its own on Ray."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from cluster.parallel import gathered
from cluster.progress import shown
from cluster.report import StageReport
from jobs.run import Resources
from models.ranker import LightGBMRanker, Relevance, best_trees, fit
from models.ranker_params import RankerParams
from pipeline.features.groups import Groups

_BYTES_A_TASK = 256 * 2**20
_COPIES = 3
"""What a fit holds beside the libraries: its rows, LightGBM's bins of them, and the rows that it scores."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Variant:
    """One way to train: from these features, of this share of the histories that a fold learns from."""

    name: str
    feature_names: tuple[str, ...]
    share: float = 1.0


@dataclass(frozen=True)
class CrossFitted:
    """What the folds of one variant gave: a ranker each, scores of every row by the ranker that has not seen it (shape
    (rows,)), the trees that each fold found best, and the mean number of histories that a fold learned from."""

    variant: Variant
    rankers: tuple[LightGBMRanker, ...]
    scores: npt.NDArray[np.float64]
    best_trees: tuple[int, ...]
    n_histories: float

    @property
    def trees(self) -> int:
        """The trees of a fit to all histories: the mean of what the folds found best."""
        return _mean(self.best_trees)


@dataclass(frozen=True)
class _Shared:
    """What every task reads. Of each group: its size, its fold, the code of its history; `turn` is by history code."""

    matrix: npt.NDArray[np.float32]
    relevance: Relevance
    sizes: npt.NDArray[np.int64]
    fold: npt.NDArray[np.int64]
    history: npt.NDArray[np.int64]
    turn: npt.NDArray[np.int64]
    feature_names: tuple[str, ...]
    params: RankerParams
    profile: str


def cross_fit(
    groups: Groups,
    feature_names: Sequence[str],
    variants: Sequence[Variant],
    params: RankerParams,
    fold_of: Mapping[str, int],
    profile: str,
    resources: Resources,
    seed: int = 0,
) -> list[CrossFitted]:
    """Fits every variant on the histories outside each fold, and scores those inside it.

    `groups` have the features `feature_names`, and `fold_of` a fold for each of their histories. With early stopping
    a fold is scored by a fit of as many trees as the *other* folds found best, so that none judges a choice made on it.
    A share takes the first histories in an order that `seed` gives, so that a larger one holds a smaller. The results
    are equal whatever the number of workers. Raises as cluster.parallel.gathered and models.ranker.fit.
    """
    shared = _share(groups, feature_names, params, fold_of, profile, seed)
    places = [(variant, fold) for variant in variants for fold in range(max(fold_of.values()) + 1)]
    stopping = params.early_stopping_rounds > 0
    memory = _BYTES_A_TASK + _COPIES * groups.matrix.nbytes
    total = len(places) * (2 if stopping else 1)
    with shown(StageReport("fits", total=total, unit="fits"), profile) as advance:
        on_ray = partial(gathered, workers=resources.workers, address=resources.address, memory=memory)
        best = [params.trees] * len(places)
        if stopping:
            best = on_ray(_stop, shared, places, advance=advance)
        done = total - len(places)
        found_best = {variant.name: tuple(_of(variant, places, best)) for variant in variants}
        trees = [_others(found_best[variant.name], fold) for variant, fold in places]
        tasks = [(*place, count) for place, count in zip(places, trees, strict=True)]
        fitted = on_ray(_fit, shared, tasks, advance=lambda count: advance(done + count))
    return [_joined(variant, found_best[variant.name], _of(variant, places, fitted), shared) for variant in variants]


def _share(
    groups: Groups,
    feature_names: Sequence[str],
    params: RankerParams,
    fold_of: Mapping[str, int],
    profile: str,
    seed: int,
) -> _Shared:
    names = sorted(set(groups.history_ids))
    codes = {name: code for code, name in enumerate(names)}
    turn = np.empty(len(names), np.int64)
    turn[[codes[name] for name in sorted(names, key=lambda name: _hash(seed, name))]] = np.arange(len(names))
    return _Shared(
        matrix=groups.matrix,
        relevance=groups.relevance,
        sizes=groups.group_sizes,
        fold=np.array([fold_of[name] for name in groups.history_ids], np.int64),
        history=np.array([codes[name] for name in groups.history_ids], np.int64),
        turn=turn,
        feature_names=tuple(feature_names),
        params=params,
        profile=profile,
    )


def _stop(shared: _Shared, variant: Variant, fold: int) -> int:
    learned, judged = _learned(shared, variant, fold), shared.fold == fold
    parts = _part(shared, variant, learned), _part(shared, variant, judged)
    return best_trees(*parts, variant.feature_names, shared.params)


def _fit(shared: _Shared, variant: Variant, fold: int, trees: int) -> tuple[LightGBMRanker, npt.NDArray[np.float64]]:
    params = shared.params.model_copy(update={"trees": trees})
    learned, judged = _learned(shared, variant, fold), shared.fold == fold
    ranker = fit(*_part(shared, variant, learned), variant.feature_names, params, profile=shared.profile)
    matrix, _, _ = _part(shared, variant, judged)
    return ranker, ranker.score(matrix, variant.feature_names)


def _learned(shared: _Shared, variant: Variant, fold: int) -> Mask:
    """The groups that a fold learns from."""
    outside = shared.fold != fold
    histories = np.unique(shared.history[outside])
    count = math.ceil(variant.share * len(histories))
    kept = histories[np.argsort(shared.turn[histories])[:count]]
    found: Mask = outside & np.isin(shared.history, kept)
    return found


def _part(
    shared: _Shared, variant: Variant, groups: Mask
) -> tuple[npt.NDArray[np.float32], Relevance, npt.NDArray[np.int64]]:
    rows = np.repeat(groups, shared.sizes)
    columns = [shared.feature_names.index(name) for name in variant.feature_names]
    return np.ascontiguousarray(shared.matrix[rows][:, columns]), shared.relevance[rows], shared.sizes[groups]


def _joined(
    variant: Variant,
    best: tuple[int, ...],
    fitted: Sequence[tuple[LightGBMRanker, npt.NDArray[np.float64]]],
    shared: _Shared,
) -> CrossFitted:
    scores = np.zeros(len(shared.relevance), np.float64)
    learned = []
    for fold, (_, of_fold) in enumerate(fitted):
        scores[np.repeat(shared.fold == fold, shared.sizes)] = of_fold
        learned.append(len(np.unique(shared.history[_learned(shared, variant, fold)])))
    return CrossFitted(variant, tuple(ranker for ranker, _ in fitted), scores, best, float(np.mean(learned)))


def _of(variant: Variant, places: Sequence[tuple[Variant, int]], results: Sequence[Any]) -> list[Any]:
    return [result for (of, _), result in zip(places, results, strict=True) if of == variant]


def _others(best: Sequence[int], fold: int) -> int:
    return _mean([count for other, count in enumerate(best) if other != fold])


def _mean(counts: Sequence[int]) -> int:
    return max(1, round(sum(counts) / len(counts)))


def _hash(seed: int, history_id: str) -> bytes:
    return hashlib.sha256(f"curve/{seed}/{history_id}".encode()).digest()

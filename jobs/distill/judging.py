"""How a distilled ranker does on histories that it has not seen: by the teacher, and by labels where there are any."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cluster.lake import Lake
from jobs.config import Profile
from jobs.distill.agreement import Agreement, agreement
from jobs.distill.fitting import cross_fit_way
from jobs.distill.ways import WAYS, params_of
from jobs.run import Resources
from jobs.train.crossval import DRAWS, SEED
from jobs.train.data import gather
from jobs.train.fitting import CrossFitted, Variant, cross_fit
from jobs.train.folds import assign
from jobs.train.judge import RECALL, judge
from jobs.train.scoring import ByFold
from pipeline.evaluate.by_history import Shares, shares
from pipeline.features.groups import training_groups
from pipeline.features.taught import Taught

GOLD = "gold"
"""The ranker that learned from labels, by the same folds."""


@dataclass(frozen=True)
class Validated:
    """What the folds gave, nothing where there are fewer than two: the trees of each way, agreement with the teacher,
    and shares of slates by policy where requests are labelled, with differences to `against`."""

    trees: Mapping[str, int]
    agreements: tuple[Agreement, ...] = ()
    rows: tuple[Shares, ...] = ()
    against: str = GOLD


def validate(lake: Lake, profile: Profile, taught: Taught, folds: int, resources: Resources) -> Validated:
    """Fits every way to the histories outside each fold, and judges it by those inside.

    Labels are read to judge, and to fit the ranker that the others are compared with, never to distil.
    """
    fold_of = assign(taught.groups.history_ids, folds)
    if len(set(fold_of.values())) < 2:
        return Validated({way: params_of(way, profile, taught).trees for way in WAYS})
    fitted = {way: cross_fit_way(way, taught, profile, fold_of, resources) for way in WAYS}
    orders = {RECALL: _pool_order(taught), **{way: found.scores for way, found in fitted.items()}}
    rows, against = _complete(lake, profile, fitted, fold_of, resources)
    return Validated(
        {way: found.trees for way, found in fitted.items()},
        tuple(agreement(name, taught, scores) for name, scores in orders.items()),
        rows,
        against,
    )


def _complete(
    lake: Lake, profile: Profile, fitted: Mapping[str, CrossFitted], fold_of: Mapping[str, int], resources: Resources
) -> tuple[tuple[Shares, ...], str]:
    """Shares of the slates of all ways, beside those of a ranker that is fitted on labels by the same folds."""
    features, labels = (_of(table, fold_of) for table in gather(lake, profile))
    asked = pc.unique(labels["history_id"]).to_pylist()
    if not asked:
        return (), GOLD
    names = profile.learned_features
    gold = training_groups(features, labels, names)
    by_name = dict(fitted)
    if {fold_of[name] for name in gold.history_ids} == set(fold_of.values()):
        params = profile.ranker.params(len(gold.group_sizes))
        by_name[GOLD] = cross_fit(gold, names, [Variant(GOLD, names)], params, fold_of, profile.name, resources)[0]
    against = GOLD if GOLD in by_name else RECALL
    scorers = {name: ByFold(found.rankers, fold_of) for name, found in by_name.items()}
    outcomes = judge(lake, profile, scorers, asked, resources)
    return tuple(shares(outcomes.filter(pl.col("policy").is_in([RECALL, *scorers])), against, DRAWS, SEED)), against


def _of(table: pa.Table, fold_of: Mapping[str, int]) -> pa.Table:
    return table.filter(pc.is_in(table["history_id"], pa.array(list(fold_of), pa.large_string())))


def _pool_order(taught: Taught) -> npt.NDArray[np.float64]:
    """A score of each row that orders a group as it stands: groups are in pool order."""
    return -np.arange(len(taught.scores), dtype=np.float64)

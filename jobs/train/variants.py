"""Variants of a training that tell what matters: without a group of features or a channel, and from fewer histories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from jobs.train.crossval import ndcg
from jobs.train.fitting import CrossFitted, Variant
from pipeline.evaluate.bootstrap import Estimate
from pipeline.evaluate.by_history import Shares
from pipeline.features.groups import Groups

CURVE = (0.25, 0.5, 0.75)
"""Shares of a learning curve; the ranker itself is its end."""


@dataclass(frozen=True)
class Outcome:
    """What a variant gave out of fold: nDCG of groups, and the shares of its slates (rows), with differences to the
    ranker. `n_features` and `n_histories` (mean over the folds) are what it learned from."""

    name: str
    n_features: int
    n_histories: float
    ndcg_10: Estimate
    rows: tuple[Shares, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        return asdict(self)

    def at(self, budget: int, stratum: str) -> Shares:
        """The row of one budget and stratum."""
        return next(row for row in self.rows if (row.budget, row.stratum) == (budget, stratum))


def ablations(
    feature_names: Sequence[str], groups: Mapping[str, Sequence[str]], channels: Mapping[str, Sequence[str]]
) -> list[Variant]:
    """Without each group of features, from each group alone, and without the features of each channel.

    `feature_names` are those to learn from: others are in no variant. The pool stays: a channel that is left out is
    left out of what the ranker knows, not of recall. What would keep all of them, or none, or the same as a variant
    before it, is no variant.
    """
    parts = [(f"without {name}", _other_than(names, feature_names)) for name, names in groups.items()]
    parts += [(f"only {name}", _those_of(names, feature_names)) for name, names in groups.items()]
    parts += [(f"without channel {name}", _other_than(names, feature_names)) for name, names in channels.items()]
    named = {kept: name for name, kept in reversed(parts) if 0 < len(kept) < len(feature_names)}
    return [Variant(name, kept) for name, kept in parts if named.get(kept) == name]


def curve(feature_names: Sequence[str]) -> list[Variant]:
    """All features, from a share of the histories that a fold learns from."""
    return [Variant(f"{share:.0%} of the histories", tuple(feature_names), share) for share in CURVE]


def outcome(groups: Groups, fitted: CrossFitted, rows: Sequence[Shares]) -> Outcome:
    """Sums up one variant; `rows` are of all policies."""
    name = fitted.variant.name
    of_variant = tuple(row for row in rows if row.policy == name)
    return Outcome(name, len(fitted.variant.feature_names), fitted.n_histories, ndcg(groups, fitted.scores), of_variant)


def _other_than(left_out: Sequence[str], feature_names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in feature_names if name not in left_out)


def _those_of(kept: Sequence[str], feature_names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in feature_names if name in kept)

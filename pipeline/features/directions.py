"""Which features say the more or the less relevant, whatever is learned: directions that a ranker may be held to."""

from __future__ import annotations

from collections.abc import Sequence

RISING = ("rrf_score", "_score", "_before", "_after", "_session_best", "_session_mean", "cross_encoder")
FALLING = ("pool_position", "_rank", "_gap", "_session_place")
"""Ends of the names of features with which a score may only rise, and only fall, all else equal: relevance by a
channel, a view or a cross-encoder, of a turn or of what stands around it. Others (who speaks, when) have none."""


def directions(feature_names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of the features that may only rise, and those that may only fall, in order."""
    rising = tuple(name for name in feature_names if name.endswith(RISING))
    return rising, tuple(name for name in feature_names if name.endswith(FALLING))

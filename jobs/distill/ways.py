"""The two ways to learn from a teacher: its scores as they are, or the order that they make."""

from __future__ import annotations

from dataclasses import replace

from jobs.config import Profile
from models.ranker_params import RankerParams
from pipeline.features.groups import Groups
from pipeline.features.taught import GAINS, Taught

POINTWISE, LAMBDARANK = WAYS = ("pointwise", "lambdarank")
"""`pointwise`: a regression on the scores. `lambdarank`: the order of grades."""


def labels_of(way: str, taught: Taught) -> Groups:
    """The groups with what a way learns from as relevance: scores from 0 to 10, or grades."""
    return replace(taught.groups, relevance=taught.scores) if way == POINTWISE else taught.groups


def params_of(way: str, profile: Profile, taught: Taught) -> RankerParams:
    """The profile's own parameters, with the objective of a way."""
    params = profile.ranker.params(len(taught.groups.group_sizes))
    if way == POINTWISE:
        return params.model_copy(update={"objective": "regression"})
    return params.model_copy(update={"gains": GAINS})

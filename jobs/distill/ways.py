"""The two ways to learn from a teacher: its scores as they are, or the order that they make."""

from __future__ import annotations

from dataclasses import replace

from jobs.config import Profile
from models.ranker_params import RankerParams
from pipeline.features.directions import directions
from pipeline.features.groups import Groups
from pipeline.features.taught import GAINS, Taught

POINTWISE, LAMBDARANK = WAYS = ("pointwise", "lambdarank")
"""`pointwise`: a regression on the scores. `lambdarank`: the order of grades."""

TRUNCATION = 30


def labels_of(way: str, taught: Taught) -> Groups:
    """The groups with what a way learns from as relevance: scores from 0 to 10, or grades."""
    return replace(taught.groups, relevance=taught.scores) if way == POINTWISE else taught.groups


def params_of(way: str, profile: Profile, taught: Taught) -> RankerParams:
    """The profile's own parameters, with the objective of a way.

    Where the profile says nothing of `rising` and `falling`, relevance counts for a candidate and never against it
    (pipeline.features.directions): of a teacher's many doubtful scores trees else learn what is chance. By a made-up
    teacher of AUC .9 on conversations 0 to 2 of LoCoMo (60 trees, slates counted unrendered) completeness at 2,700
    tokens out of fold rose by it from .880 to .903 (lambdarank) and from .875 to .903 (pointwise). LambdaRank looks at
    pairs with one of the first TRUNCATION alone: every candidate has a grade, and pairs with one of the first 100 took
    twice the time and were no better (.903 beside .906).
    """
    params = profile.ranker.params(len(taught.groups.group_sizes))
    if not params.rising and not params.falling:
        rising, falling = directions(profile.learned_features)
        params = params.model_copy(update={"rising": rising, "falling": falling})
    if way == POINTWISE:
        return params.model_copy(update={"objective": "regression"})
    return params.model_copy(update={"gains": GAINS, "truncation": min(TRUNCATION, params.truncation)})

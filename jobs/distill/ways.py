"""The ways to learn from a teacher: its scores as they are, the order that they make, or what they are a sign of."""

from __future__ import annotations

from dataclasses import replace

from jobs.config import Profile
from jobs.distill.doubtful import believed
from models.ranker_params import RankerParams
from pipeline.features.directions import directions
from pipeline.features.groups import Groups
from pipeline.features.taught import GAINS, Taught

POINTWISE, LAMBDARANK, DOUBTFUL = WAYS = ("pointwise", "lambdarank", "doubtful")
"""`pointwise`: a regression on the scores. `lambdarank`: the order of grades. `doubtful`: how likely each candidate is
to be evidence, where a score is a sign of it that may be wrong (jobs.distill.doubtful)."""

DEFAULT = DOUBTFUL

TOLD = {
    POINTWISE: "a regression on the scores",
    LAMBDARANK: "LambdaRank on grades of the scores",
    DOUBTFUL: "how likely each candidate is to be evidence, by a teacher that may be wrong",
}
"""What a ranker of each way learned."""

TRUNCATION = 30

SIMPLE = {"num_leaves": 3, "trees": 150, "min_data_in_leaf": 100, "early_stopping_rounds": 0, "lambda_l2": 2.0}
"""The fit of `doubtful` where the profile says nothing else: small trees, and their number is fixed, for what is
learned from is an estimate, and to stop early by it would choose nothing. The penalty is small, for it is weighed
against p(1 - p) of each candidate, and nearly all are as good as certain: by the preset's 20 a ranker from few requests
learned nothing. By the made-up teacher below (AUC .9, two seeds, counted unrendered) completeness at 900 and 2,700
tokens out of fold was .832 and .908, by a penalty of 20 .829 and .903."""


def labels_of(way: str, profile: Profile, taught: Taught) -> Groups:
    """The groups with what a way learns from as relevance: scores from 0 to 10, grades, or probabilities of evidence,
    whose estimate takes rankers of its own. Raises as models.ranker.fit."""
    if way == LAMBDARANK:
        return taught.groups
    if way == POINTWISE:
        return replace(taught.groups, relevance=taught.scores)
    params = params_of(way, profile, taught)
    return replace(taught.groups, relevance=believed(taught, profile.learned_features, params))


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
    if way == DOUBTFUL:
        own = profile.ranker.model_dump(include=set(SIMPLE), exclude_none=True)
        return params.model_copy(
            update={"objective": "cross_entropy", **SIMPLE, **own, "early_stopping_rounds": 0, "lambda_l2": 2.0}
        )
    return params.model_copy(update={"gains": GAINS, "truncation": min(TRUNCATION, params.truncation)})

"""What a doubtful teacher says of candidates: evidence is not known, and a score is a sign of it that may be wrong.

The teacher is taken as annotators are in Dawid and Skene (1979), with a model of the items beside it as in Raykar et
al. (2010): what a candidate is thought to be before it is rated (the prior) is first what its place in the pool says,
then what a ranker says that learned from other histories. How the teacher rates evidence and the rest is estimated from
all ratings.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from jobs.train.folds import FOLDS, assign
from models.ranker import fit
from models.ranker_params import RankerParams
from pipeline.features.taught import Taught
from pipeline.llm.ratings import HIGHEST

Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Fitted = Callable[[npt.NDArray[np.bool_], Numbers], Numbers]
"""From the rows to learn from and what all rows are taken for: what the others are, shape (rows,)."""

ROUNDS = 3
"""Rankers that are fitted for a prior, one after the other. Six were no better than three on conversations 0 to 2 of
LoCoMo (a penalty of 20, slates counted unrendered; completeness at 900, 1,350 and 2,700 tokens: .833, .851 and .901
beside .828, .859 and .903)."""

FIRST, FALL = 0.3, 1.2
"""The first prior of the candidate at place k of a pool: FIRST / k^FALL, which adds up to 1.2 of 256 candidates. It is
stated, not estimated from scores: on conversations 0 to 2 of LoCoMo .32 of the first candidates are evidence."""

SMOOTHING = 2.0
"""Candidates' worth of the ratings of all that is added to those of evidence and of the rest."""

_ESTIMATES = 10
_CERTAIN = 1e-5


def believed(taught: Taught, feature_names: tuple[str, ...], params: RankerParams) -> Numbers:
    """How likely each candidate is to be evidence, shape (rows,), by its rating and what the other histories teach.

    No history has a part in its own prior; of one history alone, no request has. `params` are those of a fit to
    probabilities. Raises as models.ranker.fit.
    """
    groups = taught.groups
    sizes = groups.group_sizes
    names = groups.history_ids if len(set(groups.history_ids)) > 1 else [str(place) for place in range(len(sizes))]
    fold_of = assign(names, FOLDS)
    fold = np.array([fold_of[name] for name in names])

    def others(learned: npt.NDArray[np.bool_], taken_for: Numbers) -> Numbers:
        kept = learned[np.cumsum(sizes) - sizes]
        ranker = fit(groups.matrix[learned], taken_for[learned], sizes[kept], feature_names, params)
        return np.asarray(expit(ranker.score(groups.matrix[~learned], feature_names)), np.float64)

    places = np.concatenate([np.arange(1, size + 1) for size in sizes])
    return rounds(rated(taught.scores), first_prior(places), np.repeat(fold, sizes), others)


def rounds(ratings: Codes, prior: Numbers, fold: Codes, fitted: Fitted) -> Numbers:
    """The posterior of each row after ROUNDS priors of rankers, each of which scores the fold that it has not seen."""
    for _ in range(ROUNDS if len(np.unique(fold)) > 1 else 0):
        found = posterior(prior, ratings)
        prior = np.zeros(len(ratings))
        for of in np.unique(fold):
            prior[fold == of] = fitted(fold != of, found)
    return posterior(prior, ratings)


def first_prior(places: npt.NDArray[np.integer]) -> Numbers:
    """What is thought of a candidate by its place (from 1) alone."""
    return np.asarray(FIRST / places.astype(np.float64) ** FALL, np.float64)


def rated(scores: Numbers) -> Codes:
    """The whole rating next to each score, from 0 to HIGHEST."""
    return np.clip(np.rint(scores), 0, HIGHEST).astype(np.int64)


def posterior(prior: Numbers, ratings: Codes) -> Numbers:
    """The probability of evidence by prior and rating, shape (rows,): expectation and maximisation by turns, of the
    ratings' distributions alone. Equal priors and a higher rating never give a lower one."""
    odds = logit(np.clip(prior, _CERTAIN, 1 - _CERTAIN))
    found: Numbers = expit(odds)
    for _ in range(_ESTIMATES):
        found = expit(odds + log_ratios(ratings, found)[ratings])
    return found


def log_ratios(ratings: Codes, evidence: Numbers) -> Numbers:
    """How much each rating from 0 to HIGHEST speaks for evidence: the logarithm of its share among evidence by its
    share among the rest, never falling. `evidence` is how likely each row is to be some."""
    count = np.bincount(ratings, minlength=HIGHEST + 1)
    of_evidence = np.bincount(ratings, weights=evidence, minlength=HIGHEST + 1)
    given = np.flatnonzero(count)
    added = SMOOTHING * count / count.sum()
    shares = [(of + added)[given] / (of.sum() + SMOOTHING) for of in (of_evidence, np.maximum(count - of_evidence, 0))]
    monotone = IsotonicRegression().fit_transform(given, np.log(shares[0] / shares[1]), sample_weight=count[given])
    return np.asarray(np.interp(np.arange(HIGHEST + 1), given, monotone), np.float64)

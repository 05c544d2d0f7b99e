"""From a ranker's scores to probabilities: how likely a candidate is evidence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

Scores = npt.NDArray[np.float64]

DECIMALS = 9
"""Of what is fitted: what two machines compute may differ below that, and it is part of a ranker's identity."""

_MAX_STEPS = 100
_MAX_HALVINGS = 30
_SMALL = 1e-8


class Calibration(BaseModel):
    """A score's probability: 1 / (1 + exp(-(slope * score + intercept))). It keeps the order of the scores."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    slope: float = Field(ge=0, allow_inf_nan=False)
    intercept: float = Field(allow_inf_nan=False)

    def probability(self, scores: Scores) -> Scores:
        """Probability that a candidate of each score is evidence, shape as `scores`, from 0 to 1."""
        return _sigmoid(self.slope * scores + self.intercept)


def fit_calibration(scores: Scores, relevance: npt.NDArray[np.integer[Any] | np.floating[Any]]) -> Calibration:
    """Fit a calibration by Platt's method (1999), with Newton's steps and Platt's targets as in Lin, Lin, Weng (2007).

    `scores` and `relevance` (evidence: > 0) have shape (rows,), of candidates that the scores were not fitted on: out
    of fold. Scores that order unseen candidates backwards tell nothing: their slope is 0. Equal rows give an equal
    calibration. Raises ValueError where the shapes differ, a score is not finite, or one of the two kinds is lacking.
    """
    if scores.ndim != 1 or scores.shape != relevance.shape:
        raise ValueError(f"scores have shape {scores.shape}, relevance {relevance.shape}: both need one entry a row")
    if not np.isfinite(scores).all():
        raise ValueError("a score is not finite: there is nothing to calibrate it by")
    relevant = relevance > 0
    positive, negative = int(relevant.sum()), int((~relevant).sum())
    if not positive or not negative:
        raise ValueError(f"of {len(scores)} candidates {positive} are evidence: a calibration needs both kinds")
    target = np.where(relevant, (positive + 1) / (positive + 2), 1 / (negative + 2))
    mean, spread = float(scores.mean()), float(scores.std())
    if spread > 0:
        # Of standardised scores, whatever their scale, the steps are well conditioned.
        slope, intercept = _newton((scores - mean) / spread, target, math.log((positive + 1) / (negative + 1)))
        if slope > 0:
            slope, intercept = slope / spread, intercept - slope * mean / spread
            return Calibration(slope=round(slope, DECIMALS), intercept=round(intercept, DECIMALS))
    share = float(target.mean())
    return Calibration(slope=0.0, intercept=round(math.log(share / (1 - share)), DECIMALS))


def _newton(scores: Scores, target: Scores, intercept: float) -> tuple[float, float]:
    """Slope and intercept of the smallest cross-entropy, which is convex; each step is halved until it gets smaller."""
    slope = 0.0
    loss = _loss(slope * scores + intercept, target)
    for _ in range(_MAX_STEPS):
        p = _sigmoid(slope * scores + intercept)
        # Sums, not dot products: BLAS adds in an order that depends on its threads.
        gradient = float(np.sum((p - target) * scores)), float(np.sum(p - target))
        if max(map(abs, gradient)) < _SMALL:
            break
        weight = p * (1 - p)
        of_slope, of_intercept = float(np.sum(weight * scores * scores)), float(np.sum(weight))
        of_both = float(np.sum(weight * scores))
        determinant = of_slope * of_intercept - of_both * of_both
        if determinant <= 0:
            break
        step_slope = (of_both * gradient[1] - of_intercept * gradient[0]) / determinant
        step_intercept = (of_both * gradient[0] - of_slope * gradient[1]) / determinant
        for halving in range(_MAX_HALVINGS):
            share = 0.5**halving
            tried = _loss((slope + share * step_slope) * scores + intercept + share * step_intercept, target)
            if tried < loss:
                break
        else:
            break
        slope, intercept, loss = slope + share * step_slope, intercept + share * step_intercept, tried
    return slope, intercept


def _loss(z: Scores, target: Scores) -> float:
    return float(np.sum(np.logaddexp(0.0, z) - target * z))


def _sigmoid(z: Scores) -> Scores:
    return np.asarray(np.exp(-np.logaddexp(0.0, -z)), np.float64)

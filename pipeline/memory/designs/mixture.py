"""Two bells over numbers: which of these belong to the higher one."""

from __future__ import annotations

import numpy as np

from pipeline.recall.history import Floats

_BINS = 200
_ROUNDS = 60
_NARROWEST = 1e-3


def border(values: Floats) -> float:
    """From where on a number is more likely of the higher of two Gaussians, fitted by expectation maximisation.

    Infinite where the numbers do not differ. They are counted in 200 bins: how long it takes does not grow with them.
    """
    if len(values) < 2 or not values.max() > values.min():
        return float("inf")
    counts, edges = np.histogram(values, bins=_BINS)
    centre = (edges[:-1] + edges[1:]) / 2
    mean = np.quantile(values, (0.25, 0.95))
    deviation = np.full(2, max(float(values.std()), _NARROWEST))
    weight = np.array([0.8, 0.2])
    for _ in range(_ROUNDS):
        part = _parts(centre, mean, deviation, weight) * counts
        total = part.sum(axis=1) + 1e-12
        mean = (part @ centre) / total
        spread = (part * (centre - mean[:, None]) ** 2).sum(axis=1) / total
        deviation = np.maximum(np.sqrt(spread), _NARROWEST)
        weight = total / total.sum()
    higher = int(mean[1] >= mean[0])
    is_of_it = _parts(centre, mean, deviation, weight)[higher] > 0.5
    above = np.flatnonzero(is_of_it & (centre >= mean.min()))
    return float(edges[above[0]]) if len(above) else float("inf")


def _parts(centre: Floats, mean: Floats, deviation: Floats, weight: Floats) -> Floats:
    """The share of each of the two in each bin, shape (2, bins)."""
    away = (centre - mean[:, None]) / deviation[:, None]
    log = np.log(weight)[:, None] - np.log(deviation)[:, None] - away**2 / 2
    part = np.exp(log - log.max(axis=0))
    shares: Floats = part / part.sum(axis=0)
    return shares

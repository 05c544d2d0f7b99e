"""Views: ways to make one score of a turn from how well each token of the request is matched in it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pipeline.recall.late.matches import Floats, Matches

DISCOUNT = 0.8
WIDE_DISCOUNT = 0.9
"""What a neighbour's match counts, for one turn away and for each step of two."""
_ALMOST_BEST = 0.02
_NO_SPREAD = 1e-9
"""Below it equal cosines differ by rounding alone."""


def interaction(matches: Matches) -> Floats:
    """Mean best cosine, weighted by idf; the turns before and after count times 0.8.

    MaxSim (Khattab, Zaharia 2020, arXiv 2004.12832) as a weighted mean, so that requests of any length compare.
    """
    return _mean(matches.near(1, DISCOUNT), matches.weights)


def own(matches: Matches) -> Floats:
    """Mean best cosine in the turn alone, weighted by idf."""
    return _mean(matches.own, matches.weights)


def window(matches: Matches) -> Floats:
    """As interaction, over two turns before and after that count times 0.9 a step."""
    return _mean(matches.near(2, WIDE_DISCOUNT), matches.weights)


def content(matches: Matches) -> Floats:
    """As interaction, over the request's content words alone; NaN where it has none."""
    return _mean(matches.near(1, DISCOUNT), np.where(matches.is_content, matches.weights, 0.0))


def unweighted(matches: Matches) -> Floats:
    """As own, every token alike."""
    return _mean(matches.own, np.ones_like(matches.weights))


def weakest(matches: Matches) -> Floats:
    """The best cosine of the content word that is matched worst; NaN without any."""
    near = matches.near(1, DISCOUNT)
    worst: Floats = np.where(matches.is_content[:, None], near, np.inf).min(axis=0, initial=np.inf)
    return np.where(np.isfinite(worst), worst, np.nan)


def standard(matches: Matches) -> Floats:
    """Mean over tokens, weighted by idf, of how many standard deviations a match stands above all candidates'."""
    near = matches.near(1, DISCOUNT)
    if not near.shape[1] or np.isnan(near).all():
        return np.full(near.shape[1], np.nan)
    spread = np.nanstd(near, axis=1, keepdims=True)
    lifted = (near - np.nanmean(near, axis=1, keepdims=True)) / np.where(spread > _NO_SPREAD, spread, 1.0)
    return _mean(lifted, matches.weights)


def leading(matches: Matches) -> Floats:
    """Share of the request's idf that lies on tokens of which the turn is the best match or within 0.02 of it."""
    if not matches.own.shape[1] or np.isnan(matches.own).all():
        return np.full(matches.own.shape[1], np.nan)
    leads = matches.own >= np.nanmax(matches.own, axis=1, keepdims=True) - _ALMOST_BEST
    return _mean(np.where(np.isnan(matches.own), np.nan, leads), matches.weights)


VIEWS: dict[str, Callable[[Matches], Floats]] = {
    "interaction": interaction,
    "own": own,
    "window": window,
    "content": content,
    "unweighted": unweighted,
    "weakest": weakest,
    "standard": standard,
    "leading": leading,
}
"""By the end of a channel's name: `late_content` is the view `content` of the encoder `late`."""


def _mean(values: Floats, weights: Floats) -> Floats:
    """Mean over tokens (axis 0), weighted; NaN where no token weighs anything or the turn has no codes."""
    total = float(weights.sum())
    if total <= 0:
        return np.full(values.shape[1], np.nan)
    return np.asarray(np.einsum("tc,t->c", values, weights) / total)

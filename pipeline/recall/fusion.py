"""From scores to ranks, and from the ranks of several channels to one order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.recall.history import Floats, Ints, Mask

DECIMALS = 6
"""Scores are rounded before they are compared: what two machines compute may differ below that."""


def ranks(rounded_scores: Floats, recalled: Mask) -> Floats:
    """Rank of each recalled turn, from 1 for the highest score, and NaN of any other; shape as given.

    Turns come in (session_index, turn_index) order; equal scores rank the earlier one first.
    """
    place = np.full(len(rounded_scores), np.nan)
    turns = np.flatnonzero(recalled)
    order = turns[np.argsort(-rounded_scores[turns], kind="stable")]
    place[order] = np.arange(1, len(order) + 1)
    return place


def reciprocal_rank_fusion(channel_ranks: Sequence[Floats], weights: Sequence[float], k: int) -> Floats:
    """Sum of weight / (k + rank) over the channels that recalled a turn, rounded, of one channel's shape; else 0.

    Cormack, Clarke, Buettcher 2009, whose weights are all 1.
    """
    shares = [weight / (k + rank) for weight, rank in zip(weights, channel_ranks, strict=True)]
    total: Floats = np.nansum(shares, axis=0)
    return np.round(total, DECIMALS)


def pool_order(fused: Floats) -> Ints:
    """Positions of the turns in the order of a pool: the highest fused score first, of equal ones the earlier turn.

    What no channel recalled (0) follows, the newest first.
    """
    position = np.arange(len(fused))
    return np.lexsort([np.where(fused > 0, position, -position), -fused])

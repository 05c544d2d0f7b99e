"""From scores to ranks, and from the ranks of several channels to one order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.recall.history import Floats, Ints

DECIMALS = 6
"""Scores are rounded before they are compared: what two machines compute may differ below that."""


def ranks(rounded_scores: Floats) -> Ints:
    """Rank of each turn, from 1 for the highest score, shape as given; turns come in (session_index, turn_index) order.

    Equal scores rank the earlier turn first; no score (NaN) ranks last.
    """
    order = np.argsort(-rounded_scores, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(1, len(order) + 1)
    return rank


def reciprocal_rank_fusion(channel_ranks: Sequence[Ints], k: int) -> Floats:
    """Sum over channels of 1 / (k + rank), rounded, shape as one channel's (Cormack, Clarke, Buettcher 2009)."""
    total: Floats = np.sum([1.0 / (k + rank) for rank in channel_ranks], axis=0)
    return np.round(total, DECIMALS)

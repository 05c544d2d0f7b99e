"""The channels a pool can be fed by. A new one is a class: an index of a history, and its scores of requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from pipeline.recall.bm25 import Bm25Channel
from pipeline.recall.dense import DenseChannel
from pipeline.recall.history import History, Mask, Request, Scored
from pipeline.recall.options import PoolOptions


class Channel(Protocol):
    """One recall ranking over one history."""

    def scores(self, visible: Mask, requests: Sequence[Request]) -> Iterator[Scored | None]:
        """For each request the scores of the visible turns; None for a request that this channel cannot answer.

        Every statistic is over the visible turns alone.
        """
        ...


CHANNELS: dict[str, Callable[[History, PoolOptions], Channel]] = {
    "bm25": Bm25Channel,
    "dense": lambda history, _options: DenseChannel(history),
}
"""By name, what builds the channel's index of one history."""

"""The channels that score every visible turn. A new one is a class: an index of a history, scores of requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from pipeline.recall.bm25 import Bm25Channel, Bm25WindowChannel
from pipeline.recall.dense import DenseChannel, DenseWindowChannel
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
    "bm25_window": Bm25WindowChannel,
    "dense": lambda history, _options: DenseChannel(history),
    "dense_window": DenseWindowChannel,
}
"""By name, what builds the index of one history of a channel that scores every visible turn."""

"""What is measured of slates of memory beside their completeness, together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.evaluate.displayed import Displayed
from pipeline.evaluate.paired import Difference
from pipeline.evaluate.resolutions import Tokens
from pipeline.evaluate.reuse import Reuse

Place = tuple[str, str, int, str]
"""A group of requests, a policy, a budget and what is measured."""


@dataclass(frozen=True)
class OfMemory:
    """Each is empty where there is nothing to measure.

    `tokens` by resolution; `best_piece` the completeness of one policy less that of the other (`pair`), in bins of the
    rank of the best evidence piece; `reuse` and `displayed` of agents.
    """

    tokens: tuple[Tokens, ...] = ()
    pair: tuple[str, str] | None = None
    best_piece: tuple[Difference, ...] = ()
    reuse: tuple[Reuse, ...] = ()
    displayed: tuple[Displayed, ...] = ()

    def values(self) -> Iterator[tuple[Place, float]]:
        """Every point value with its place."""
        for tokens in self.tokens:
            for name in ("record", "excerpt", "raw", "other"):
                yield ("slates", tokens.policy, tokens.budget, f"{name}_tokens"), getattr(tokens, name)
        for difference in self.best_piece:
            policies = " less ".join(self.pair or ())
            value = difference.over_requests.value
            if value is not None:
                yield (f"best piece {difference.stratum}", policies, difference.budget, "difference"), value
        agents: tuple[Reuse | Displayed, ...] = (*self.reuse, *self.displayed)
        for row in agents:
            for name, estimate in row.estimates().items():
                if estimate.value is not None:
                    yield ("agents", row.policy, row.budget, name), estimate.value


NOTHING = OfMemory()
"""Of a run without slates of memory and without agents."""

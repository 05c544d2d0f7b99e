"""All features by name, and the table that documents them."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import polars as pl

from pipeline.features.feature import Feature
from pipeline.features.of_channel import FAMILIES
from pipeline.features.of_turn import OF_TURN

CROSS_ENCODER = Feature(
    "cross_encoder",
    "cross_encoder",
    "sigmoid of the cross-encoder's score of request and turn; of a long turn the best window",
    "0 to 1",
    "the profile has no cross-encoder, the turn is beyond its `top`, or the score is in quarantine",
    pl.col("cross_encoder"),
)

AGENTMEMREC = (
    "pool_position",
    "bm25_score",
    "bm25_rank",
    "dense_score",
    "dense_rank",
    "cross_encoder",
    "role",
    "turn_position",
    "age_days",
    "n_tokens",
)
"""The ten features of AgentMemRec (arXiv 2610.34673, 4.2), in the order in which a ranker takes them."""

_OF_TURN = {**OF_TURN, CROSS_ENCODER.name: CROSS_ENCODER}


class UnknownFeature(ValueError):
    """A name that is no feature; the message names what there is."""


def feature(name: str, channels: Sequence[str]) -> Feature:
    """The feature of a name: one of its own, or `<channel>_<what>` for one of `channels`. Raises UnknownFeature."""
    if name in _OF_TURN:
        return _OF_TURN[name]
    for channel in channels:
        family = FAMILIES.get(name.removeprefix(f"{channel}_")) if name.startswith(f"{channel}_") else None
        if family is not None:
            return family(channel)
    near = difflib.get_close_matches(name, known(channels), n=1, cutoff=0.0)
    raise UnknownFeature(f"no feature {name}; did you mean {near[0]}? `slatemill features` lists them")


def default_features(channels: Sequence[str]) -> tuple[str, ...]:
    """AgentMemRec's features, less those of channels that a profile does not have."""
    return tuple(name for name in AGENTMEMREC if name in known(channels))


def known(channels: Sequence[str]) -> list[str]:
    """The names of all features that a profile with these channels and views can have."""
    return [*_OF_TURN, *(f"{channel}_{family}" for channel in channels for family in FAMILIES)]


def catalogue() -> list[Feature]:
    """Every feature once, those of channels for a channel named `<channel>`: what documents them."""
    return [*_OF_TURN.values(), *(family("<channel>") for family in FAMILIES.values())]

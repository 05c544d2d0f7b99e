"""What a profile may choose about recall."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from pipeline.recall.late.views import VIEWS

CHEAP = ("bm25", "bm25_window", "dense", "dense_window")
"""Channels that score every visible turn."""

ENCODERS = ("late", "tuned")
"""Encoders of late interaction: the frozen one and the fine-tuned one. They score the turns of the prefilter."""

LATE = {f"{encoder}_{view}": (encoder, view) for encoder in ENCODERS for view in VIEWS}
"""Channels of late interaction by name: their encoder and view."""

CHANNEL_NAMES = (*CHEAP, *LATE)


class PoolOptions(BaseModel):
    """How a pool is made: its channels, their constants, and its size.

    `channels` are fused in this order, each with its weight (1 where `weights` says nothing); `views` are channels that
    score and rank the turns of a pool and have no say in it. `k1`, `b` and `epsilon` are those of
    rank_bm25.BM25Okapi; `rrf_k` is the constant of reciprocal rank fusion (Cormack, Clarke, Buettcher 2009); `window`
    the turns on either side that bm25_window and dense_window take in; `prefilter` how many turns late interaction
    scores: the first of the other channels, fused. `record_cited` turns that records cite for the request, at most,
    follow those of the channels in a pool (AgentMemRec, arXiv 2610.34673): 0 leaves records unread.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    channels: tuple[str, ...] = Field(default=("bm25", "dense"), min_length=1)
    weights: Mapping[str, float] = Field(default_factory=dict)
    views: tuple[str, ...] = ()
    rrf_k: int = Field(default=60, ge=0)
    pool_size: int = Field(default=128, ge=1)
    window: int = Field(default=2, ge=1, le=10)
    prefilter: int = Field(default=1000, ge=1)
    record_cited: int = Field(default=0, ge=0, le=32)
    bm25_engine: str = Field(default="vectorised", pattern="^(vectorised|rank_bm25)$")
    k1: float = Field(default=1.5, gt=0)
    b: float = Field(default=0.75, ge=0, le=1)
    epsilon: float = Field(default=0.25, ge=0)

    @field_validator("channels", "views")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [name for name in names if name not in CHANNEL_NAMES]
        if unknown:
            raise ValueError(f"no channel {unknown[0]}: there are {', '.join(CHANNEL_NAMES)}")
        return names

    @model_validator(mode="after")
    def _fit_each_other(self) -> PoolOptions:
        if len(set(self.scored)) < len(self.scored):
            raise ValueError("channels and views must be distinct")
        idle = [name for name in self.weights if name not in self.channels]
        if idle:
            raise ValueError(f"weights names {idle[0]}, which is not among the channels")
        if any(weight <= 0 for weight in self.weights.values()):
            raise ValueError("weights must be above 0: what has no say in the pool belongs to views")
        if self.encoders and not any(name in CHEAP for name in self.channels):
            raise ValueError(
                f"late interaction needs one of {', '.join(CHEAP)} among the channels, to choose its turns"
            )
        return self

    @property
    def scored(self) -> tuple[str, ...]:
        """Every channel and view: what the table of pools has a score and a rank of."""
        return (*self.channels, *self.views)

    @property
    def encoders(self) -> tuple[str, ...]:
        """The encoders of late interaction that are used."""
        return tuple(name for name in ENCODERS if any(LATE.get(each, ("",))[0] == name for each in self.scored))

    @property
    def needs_vectors(self) -> bool:
        """Whether any channel or view reads vectors of whole turns."""
        return any(name in ("dense", "dense_window") for name in self.scored)

    def weight(self, channel: str) -> float:
        """What a channel counts in the fusion."""
        return self.weights.get(channel, 1.0)

"""What a profile may choose about recall."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class PoolOptions(BaseModel):
    """How a pool is made: its channels, their constants, and its size.

    `channels` are names of `pipeline.recall.channels.CHANNELS`, fused in this order; `k1`, `b` and `epsilon`
    are those of rank_bm25.BM25Okapi; `rrf_k` is the constant of reciprocal rank fusion
    (Cormack, Clarke, Buettcher 2009).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    channels: tuple[Literal["bm25", "dense"], ...] = Field(default=("bm25", "dense"), min_length=1)
    rrf_k: int = Field(default=60, ge=0)
    pool_size: int = Field(default=128, ge=1)
    bm25_engine: Literal["vectorised", "rank_bm25"] = "vectorised"
    k1: float = Field(default=1.5, gt=0)
    b: float = Field(default=0.75, ge=0, le=1)
    epsilon: float = Field(default=0.25, ge=0)

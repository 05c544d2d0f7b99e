"""Stage `cross_scores`: what a cross-encoder makes of each request and the turns of its pool."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
from scipy.special import expit

from models.interfaces import PairScorer
from pipeline.quarantined import not_finite
from pipeline.recall.indexed_text import indexed_text
from pipeline.schemas import CROSS_SCORES, REQUEST_KEY, TURN_KEY


def cross_scores(
    pools: pa.Table, requests: pa.Table, turns: pa.Table, scorer: PairScorer, top: int | None
) -> tuple[pa.Table, pa.Table]:
    """Scores of the first `top` candidates of each pool, of all where it is None: (CROSS_SCORES, QUARANTINE).

    The request's text and the turn's indexed text are read together, those of all pools in one call, so that they can
    be batched by length. The score goes through a sigmoid (AgentMemRec, arXiv 2610.34673, 4.2). Rows are sorted by
    request and pool_position. A candidate whose score is not finite goes to quarantine, and its feature is null.
    """
    key = [*REQUEST_KEY[::-1], *TURN_KEY[1:]]
    candidates = pl.DataFrame(pl.from_arrow(pools.select([*key, "pool_position"]))).sort(*REQUEST_KEY, "pool_position")
    if top is not None:
        candidates = candidates.filter(pl.col("pool_position") <= top)
    asked = pl.DataFrame(pl.from_arrow(requests.select([*REQUEST_KEY, "text"])))
    told = pl.DataFrame(pl.from_arrow(turns.select(list(TURN_KEY)))).with_columns(indexed_text(turns).alias("text"))
    asked = asked.join(candidates, on=list(REQUEST_KEY), how="semi").with_row_index("request")
    told = told.join(candidates, on=list(TURN_KEY), how="semi").with_row_index("turn")
    scored = candidates.join(asked.drop("text"), on=list(REQUEST_KEY), maintain_order="left", validate="m:1").join(
        told.drop("text"), on=list(TURN_KEY), maintain_order="left", validate="m:1"
    )
    pairs = scored.select("request", "turn").to_numpy().astype(np.int64)
    scores = scorer.score(asked["text"].to_list(), told["text"].to_list(), pairs)
    finite = pl.Series(np.isfinite(scores))
    sigmoid = pl.Series("cross_encoder", expit(scores.astype(np.float64)).astype(np.float32))
    table = scored.select(key).with_columns(sigmoid).filter(finite).to_arrow().cast(CROSS_SCORES)
    return table, not_finite(scored.select(key).filter(~finite), f"cross-encoder {scorer.name}", "score")

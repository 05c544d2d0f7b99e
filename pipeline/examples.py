"""Examples to tune an encoder on: requests with an evidence turn and turns of their pool that are none."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from pipeline.recall.indexed_text import indexed_text
from pipeline.recall.late.rescore import FUNCTION_WEIGHT
from pipeline.schemas import REQUEST_KEY, TURN_KEY

MINED = 20
"""Negatives of an example, at most: the first turns of the pool that are no evidence. Tuning takes some of them."""

EXAMPLES: dict[str, pl.DataType] = {
    "history_id": pl.String(),
    "request_id": pl.String(),
    "request": pl.String(),
    "positive": pl.String(),
    "negatives": pl.List(pl.String),
    "weights": pl.List(pl.Float64),
}


def examples(
    requests: pa.Table, labels: pa.Table, pools: pa.Table, turns: pa.Table, terms: pa.Table, request_tokens: pa.Table
) -> pl.DataFrame:
    """One row an evidence turn of a request that is not adversarial: schema EXAMPLES, sorted by request and turn.

    Tables have the schemas of their names, of one bucket. `weights` are by token of the request, as late interaction
    weighs them, over all turns of the history; empty where the request has no tokens.
    """
    asked = pl.DataFrame(pl.from_arrow(requests)).filter(~pl.col("adversarial")).select(*REQUEST_KEY, request="text")
    keys = pl.DataFrame(pl.from_arrow(turns.select(list(TURN_KEY))))
    said = keys.with_columns(said=indexed_text(turns))
    gold = pl.DataFrame(pl.from_arrow(labels)).unique()
    mined = (
        pl.DataFrame(pl.from_arrow(pools))
        .join(gold, on=[*REQUEST_KEY, *TURN_KEY[1:]], how="anti")
        .sort(*REQUEST_KEY, "pool_position")
        .group_by(REQUEST_KEY, maintain_order=True)
        .head(MINED)
        .join(said, on=list(TURN_KEY), how="inner", maintain_order="left")
        .group_by(REQUEST_KEY, maintain_order=True)
        .agg(negatives="said")
    )
    found = (
        asked.join(gold, on=list(REQUEST_KEY), how="inner")
        .join(said, on=list(TURN_KEY), how="inner")
        .join(mined, on=list(REQUEST_KEY), how="left")
        .join(_weights(request_tokens, terms, keys), on=list(REQUEST_KEY), how="left")
        .sort(*REQUEST_KEY, *TURN_KEY[1:])
    )
    named = found.rename({"said": "positive"}).with_columns(pl.col("negatives", "weights").fill_null([]))
    return named.select(pl.col(name).cast(kind) for name, kind in EXAMPLES.items())


def _weights(request_tokens: pa.Table, terms: pa.Table, turns: pl.DataFrame) -> pl.DataFrame:
    """The idf of the commonest term of each token's word, as pipeline.recall.late.rescore has it, by request."""
    holding = (
        pl.DataFrame(pl.from_arrow(terms))
        .select("history_id", term=pl.col("terms").list.unique())
        .explode("term")
        .drop_nulls()
        .group_by("history_id", "term")
        .len("holding")
    )
    n_turns = turns.group_by("history_id").len("n_turns")
    tokens = pl.DataFrame(pl.from_arrow(request_tokens.select([*REQUEST_KEY, "position", "terms"])))
    commonest = (
        tokens.explode("terms")
        .drop_nulls("terms")
        .join(holding, left_on=["history_id", "terms"], right_on=["history_id", "term"], how="left")
        .group_by(*REQUEST_KEY, "position")
        .agg(pl.col("holding").fill_null(0).max())
    )
    idf = ((pl.col("n_turns") - pl.col("holding") + 0.5) / (pl.col("holding") + 0.5)).log1p()
    return (
        tokens.join(commonest, on=[*REQUEST_KEY, "position"], how="left")
        .join(n_turns, on="history_id", how="left")
        .sort(*REQUEST_KEY, "position")
        .group_by(REQUEST_KEY, maintain_order=True)
        .agg(weights=idf.fill_null(FUNCTION_WEIGHT))
    )

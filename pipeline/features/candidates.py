"""Stage `features`: the features that a profile names, for every candidate."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pyarrow as pa

from pipeline import schemas
from pipeline.features.registry import feature
from pipeline.schemas import REQUEST_KEY, TURN_KEY

_OF_TURN = ["role", "speaker", "text", "n_tokens", "session_time"]


def features(
    pools: pa.Table,
    turns: pa.Table,
    requests: pa.Table,
    names: Sequence[str],
    channels: Sequence[str],
    cross_scores: pa.Table | None = None,
) -> pa.Table:
    """The features `names` of each candidate: schema features(names), rows as in `pools`, by request and pool_position.

    `channels` are the channels and views that `pools` has scores of. `cross_encoder` is null for a candidate that
    `cross_scores` (schema CROSS_SCORES) lacks, and for all without that table. Raises ValueError when a candidate is
    not among `turns`, UnknownFeature for a name that is no feature.
    """
    columns = [feature(name, channels).expression.cast(pl.Float32).alias(name) for name in names]
    candidates = pl.DataFrame(pl.from_arrow(pools)).sort(*REQUEST_KEY, "pool_position")
    of_turn = pl.DataFrame(pl.from_arrow(turns.select([*TURN_KEY, *_OF_TURN])))
    asked = pl.DataFrame(pl.from_arrow(requests.select([*REQUEST_KEY, "text"]))).rename({"text": "request_text"})
    joined = candidates.join(of_turn, on=list(TURN_KEY), how="left", maintain_order="left", validate="m:1").join(
        asked, on=list(REQUEST_KEY), how="left", maintain_order="left", validate="m:1"
    )
    unknown = joined.filter(pl.col("role").is_null())
    if len(unknown):
        key = unknown.select(*REQUEST_KEY, *TURN_KEY[1:]).row(0, named=True)
        raise ValueError(f"{len(unknown)} candidates are not among the turns, first: {key}")
    scored = pl.DataFrame(pl.from_arrow(schemas.CROSS_SCORES.empty_table() if cross_scores is None else cross_scores))
    joined = joined.join(scored, on=[*REQUEST_KEY, *TURN_KEY[1:]], how="left", maintain_order="left", validate="1:1")
    computed = joined.select(*REQUEST_KEY[::-1], *TURN_KEY[1:], "pool_position", *_besides_position(columns, names))
    schema = schemas.features(names)
    return computed.to_arrow().select(schema.names).cast(schema)


def _besides_position(columns: Sequence[pl.Expr], names: Sequence[str]) -> list[pl.Expr]:
    """The place in the pool is a column of every table of features, whether a profile names it as a feature or not."""
    return [column for column, name in zip(columns, names, strict=True) if name != "pool_position"]

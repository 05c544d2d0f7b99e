"""The place of each candidate of one request under each policy, also of those that no slate shows."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pyarrow as pa

from models.interfaces import Ranker
from pipeline.policies.candidates import own_candidates
from pipeline.policies.orders import Order, PolicyError, mark_gold
from pipeline.policies.registry import policies_of

_TURN = ["session_index", "turn_index"]
_SCHEMA = pl.Schema({"policy": pl.String, "session_index": pl.Int64, "turn_index": pl.Int32, "rank": pl.Int64})


def ranks_by(order: Order, features: pl.DataFrame) -> pl.DataFrame:
    """The place (`rank`, from 1) of each candidate of one request in a policy's order, by session and turn index."""
    ordered = features.sort("pool_position")
    return ordered[order(ordered).rows].select(*_TURN, rank=pl.int_range(1, pl.len() + 1))


def policy_ranks(
    features: pa.Table,
    labels: pa.Table,
    slates: pa.Table,
    ranker: Ranker | None,
    rankings: Mapping[str, pa.Table],
    pools: pa.Table,
    turns: pa.Table,
    taught: pa.Table | None = None,
) -> pl.DataFrame:
    """Ranks of one request's candidates under the policies of its slates: policy, session_index, turn_index, rank.

    The candidates are those of `features`, but for policies that have their own (see own_candidates): `rankings`
    (RANKINGS, by name), of the `turns` that the run gave to the request, `pools`, and `taught` (TEACHER_SCORES).
    A policy is left out where its ranks cannot be known: one that goes by a ranker without `ranker`, one that this
    slatemill has not, and one that orders otherwise than the slates say that it did.
    """
    candidates = pl.DataFrame(features)
    shown = pl.DataFrame(slates).select("policy", "items").explode("items", empty_as_null=False)
    shown = shown.select("policy", *[pl.col("items").struct.field(name) for name in (*_TURN, "rank")])
    marked = mark_gold(candidates, pl.DataFrame(labels))
    found = [pl.DataFrame(schema=_SCHEMA)]
    policies = pl.DataFrame(slates)["policy"].unique(maintain_order=True).to_list()
    own = own_candidates(policies, candidates, pools, rankings, turns, taught)
    for policy in policies:
        try:
            known = policies_of([policy], ranker, features.column_names, rankings)[policy]
            ranks = (
                ranks_by(known.order, own.get(policy, marked))
                .select(pl.lit(policy).alias("policy"), *_TURN, "rank")
                .cast(_SCHEMA)
            )
        except PolicyError:
            continue
        said = shown.filter(pl.col("policy") == policy).cast(_SCHEMA)
        if said.join(ranks, on=[*_TURN, "rank"], how="anti").is_empty():
            found.append(ranks)
    return pl.concat(found)

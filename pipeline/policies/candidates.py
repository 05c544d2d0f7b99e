"""What a policy orders and fills where that is not the table of features: pools, or an imported ranking."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import polars as pl
import pyarrow as pa

from pipeline.policies.orders import ranking_candidates
from pipeline.policies.registry import channel_of


def own_candidates(
    policies: Sequence[str],
    features: Collection[str],
    pools: pa.Table | None,
    rankings: Mapping[str, pa.Table],
    turns: pa.Table,
) -> dict[str, pl.DataFrame]:
    """The candidates of each of `policies` that has its own, as pipeline.policies.slates.slates_by takes them.

    A ranking's (RANKINGS, by name) are its rows, of turns that are among `turns`. A channel's are the `pools`, where it
    has no score and rank among the names of `features`.
    """
    found = {name: ranking_candidates(pl.DataFrame(ranking), pl.DataFrame(turns)) for name, ranking in rankings.items()}
    if pools is not None:
        found |= dict.fromkeys(reading_pools(policies, features), pl.DataFrame(pools))
    return found


def reading_pools(policies: Sequence[str], features: Collection[str]) -> list[str]:
    """Those of `policies` that go by a channel which has no score or no rank among `features`."""
    channels = {name: channel_of(name) for name in policies}
    return [
        name
        for name, channel in channels.items()
        if channel is not None and not {f"{channel}_score", f"{channel}_rank"} <= set(features)
    ]

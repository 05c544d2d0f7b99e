"""What a policy orders and fills other than the table of features: pools, a ranking, or a teacher's scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import polars as pl
import pyarrow as pa

from pipeline.policies.orders import ranking_candidates
from pipeline.policies.registry import LLM_ORDER, channel_of
from pipeline.schemas import LABELS


def own_candidates(
    policies: Sequence[str],
    features: pl.DataFrame,
    pools: pa.Table | None,
    rankings: Mapping[str, pa.Table],
    turns: pa.Table,
    taught: pa.Table | None = None,
) -> dict[str, pl.DataFrame]:
    """The candidates of each of `policies` that has its own, as pipeline.policies.slates.slates_by takes them.

    A ranking's (RANKINGS, by name) are its rows, of turns that are among `turns`. A channel's are the `pools`, where it
    has no score and rank among the columns of `features`. Those of `llm_order` are all candidates, with
    what is `taught` of them (TEACHER_SCORES).
    """
    found = {name: ranking_candidates(pl.DataFrame(ranking), pl.DataFrame(turns)) for name, ranking in rankings.items()}
    if pools is not None:
        found |= dict.fromkeys(reading_pools(policies, features.columns), pl.DataFrame(pools))
    if taught is not None and LLM_ORDER in policies:
        found[LLM_ORDER] = _with_teacher_score(features, pl.DataFrame(taught))
    return found


def reading_pools(policies: Sequence[str], features: Collection[str]) -> list[str]:
    """Those of `policies` that go by a channel which has no score or no rank among `features`."""
    channels = {name: channel_of(name) for name in policies}
    return [
        name
        for name, channel in channels.items()
        if channel is not None and not {f"{channel}_score", f"{channel}_rank"} <= set(features)
    ]


def _with_teacher_score(features: pl.DataFrame, taught: pl.DataFrame) -> pl.DataFrame:
    """Every candidate, and its `teacher_score`, null where it was not rated."""
    key = LABELS.names
    rated = taught.select(*key, teacher_score="score")
    return features.select(*key, "pool_position").join(rated, on=key, how="left", maintain_order="left", validate="1:1")

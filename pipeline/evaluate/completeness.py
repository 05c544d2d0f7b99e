"""Outcomes: for each request, policy and budget, whether its evidence is in the pool and in the slate."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pyarrow as pa

from pipeline.evaluate.labelling import late_labels, unresolved_citations, unseen_evidence
from pipeline.evaluate.verbatim import verbatim_turns

_REQUEST = ["history_id", "request_id"]
_CELL = [*_REQUEST, "policy", "budget"]
_TURN = ["session_index", "turn_index"]


def outcomes(
    requests: pa.Table,
    labels: pa.Table,
    pools: pa.Table,
    slates: pa.Table,
    sources: pa.Table,
    turns: pa.Table,
    noted: pl.DataFrame,
    arrived: pl.DataFrame,
    as_of: str = "arrival",
    rankings: Mapping[str, pa.Table] | None = None,
    texts: pa.Table | None = None,
) -> pl.DataFrame:
    """One row a (request, policy, budget) of `slates`.

    Columns: history_id, request_id, policy, budget, category, adversarial, n_evidence, kappa, n_unseen, n_unresolved,
    pool_complete, slate_complete, slate_share (of the evidence turns that the slate holds), n_tokens. A slate holds a
    turn that it shows word for word, whole or in parts; `texts` are those of the evidence turns (key and text), needed
    where slates show parts: without them every raw item is a whole turn, and no other counts. kappa counts sessions, a
    continuation as the session that it continues (`sources`). Evidence that the request cannot see (n_unseen of it, by
    the key and time of `turns` and, unless the run read `as_of` latest, by the batch in which the request `arrived`:
    history_id, request_id, seq) is evidence that no slate holds; citations that mean no stored turn (n_unresolved, of
    those `noted`: see unresolved_citations) are none. A request without evidence has n_evidence 0 and is complete in
    nothing: whoever averages leaves it out. The pool of a policy that is an imported ranking is what that ranks
    (`rankings`: RANKINGS, by name), of the turns that the request may see.
    """
    gold = pl.DataFrame(labels).unique()
    evidence = evidence_counts(gold, sources)
    late = late_labels(labels, arrived)
    latest = as_of == "latest"
    unseen = unseen_evidence(requests, labels, turns, late.clear() if latest else late)
    shown = pl.DataFrame(slates)
    in_pool = _in_pool(gold, pools, shown["policy"].unique().sort(), rankings or {}, late.clear() if latest else late)
    in_slate = _held(gold, verbatim_turns(slates, texts, gold), _CELL, "slate_held")
    return (
        shown.select(*_CELL, "n_tokens")
        .join(pl.DataFrame(requests).select(*_REQUEST, "category", "adversarial"), on=_REQUEST, how="left")
        .join(evidence, on=_REQUEST, how="left")
        .join(unseen, on=_REQUEST, how="left")
        .join(unresolved_citations(noted, late), on=_REQUEST, how="left")
        .join(in_pool, on=[*_REQUEST, "policy"], how="left")
        .join(in_slate, on=_CELL, how="left")
        .with_columns(pl.col("n_evidence", "kappa", "n_unseen", "n_unresolved", "pool_held", "slate_held").fill_null(0))
        .with_columns(
            pool_complete=(pl.col("n_evidence") > 0) & (pl.col("pool_held") == pl.col("n_evidence")),
            slate_complete=(pl.col("n_evidence") > 0) & (pl.col("slate_held") == pl.col("n_evidence")),
            slate_share=pl.when(pl.col("n_evidence") > 0).then(pl.col("slate_held") / pl.col("n_evidence")),
        )
        .drop("pool_held", "slate_held")
        .sort(*_CELL)
    )


def _in_pool(
    gold: pl.DataFrame, pools: pa.Table, policies: pl.Series, rankings: Mapping[str, pa.Table], late: pl.DataFrame
) -> pl.DataFrame:
    """pool_held: how many evidence turns the candidates of each request hold under each policy. No ranking may show a
    turn that came too `late`."""
    key = [*_REQUEST, "policy"]
    columns = [*_REQUEST, *_TURN]
    of_pools = _held(gold, pl.DataFrame(pools).select(columns), _REQUEST, "pool_held")
    ours = policies.filter(~policies.is_in(list(rankings))).to_frame("policy")
    found = [of_pools.join(ours, how="cross").select(*key, "pool_held")]
    for name, ranking in rankings.items():
        in_time = gold.join(late, on=columns, how="anti")
        held = _held(in_time, pl.DataFrame(ranking).select(columns), _REQUEST, "pool_held")
        found.append(held.select(*_REQUEST, pl.lit(name).alias("policy"), "pool_held"))
    return pl.concat(found)


def evidence_counts(gold: pl.DataFrame, sources: pa.Table) -> pl.DataFrame:
    """n_evidence and kappa of each request of `gold` (LABELS, distinct): kappa as in `outcomes`."""
    first_parts = pl.DataFrame(sources).select("history_id", "session_index", "continues").unique()
    return (
        gold.join(first_parts, on=["history_id", "session_index"], how="left")
        .with_columns(first=pl.coalesce("continues", "session_index"))
        .group_by(_REQUEST)
        .agg(n_evidence=pl.len(), kappa=pl.col("first").n_unique())
    )


def _held(gold: pl.DataFrame, shown: pl.DataFrame, by: list[str], name: str) -> pl.DataFrame:
    """How many evidence turns each group of `by` holds."""
    held = shown.unique([*by, *_TURN]).join(gold, on=[*_REQUEST, *_TURN], how="semi")
    return held.group_by(by).agg(pl.len().alias(name))

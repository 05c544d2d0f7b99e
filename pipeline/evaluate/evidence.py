"""One request's evidence, turn by turn: its rank in each channel, in the pool and by the ranker, and who shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl
import pyarrow as pa

from models.interfaces import Ranker
from pipeline import schemas
from pipeline.evaluate.completeness import evidence_counts
from pipeline.evaluate.losses import lost
from pipeline.evaluate.ranks import policy_ranks, ranks_by
from pipeline.evaluate.verbatim import verbatim_turns
from pipeline.ingest.settle import batch_and_session
from pipeline.memory.registry import NAMES_OF_MEMORY
from pipeline.policies.orders import lambdarank_order
from pipeline.recall.gather import LateTables, histories
from pipeline.recall.options import PoolOptions
from pipeline.recall.pools import pools
from pipeline.recall.visible import visible

TEXT_START = 50
"""Characters of an evidence turn that are shown: enough to recognise it."""

_TURN = ["session_index", "turn_index"]
_CELL = ["policy", "budget"]
_CONTROL = r"[\s\p{Cc}]+"
"""Line breaks and terminal escapes: what starts a turn must stay on one line."""


@dataclass(frozen=True)
class RequestTables:
    """What one run read and wrote of one request: tables with the schemas of their names in pipeline.schemas.

    `requests` has one row. Those of requests hold its rows alone; those of turns hold its history, as far as the run
    gave it to the request; `told` (TURNS) and `sources` also what came later, which evidence may lie in. Vectors are
    None where the profile has no dense channel, `late` has the encoders whose tokens are stored; `slates` are of every
    policy; `rankings` are those imported ones that are policies of the run, by name; `taught` are a teacher's scores.
    """

    requests: pa.Table
    labels: pa.Table
    turns: pa.Table
    told: pa.Table
    sources: pa.Table
    terms: pa.Table
    turn_vectors: pa.Table | None
    request_vectors: pa.Table | None
    late: Mapping[str, LateTables]
    pools: pa.Table
    features: pa.Table
    slates: pa.Table
    rankings: Mapping[str, pa.Table] = field(default_factory=dict)
    taught: pa.Table | None = None


@dataclass(frozen=True)
class Evidence:
    """Where the evidence of one request stands.

    `turns`: one row an evidence turn, by (session_index, turn_index), numbered by `number` from 1. Beside the key:
    batch and session (the two parts of session_index), continues, source_format, source_session, source_turn, speaker,
    role, n_tokens, text_start, visible, pool_position (null outside the pool), recall_rank (place in the fused order of
    all visible turns), a column `NAME_rank` for each channel (place among those that the channel recalled; null for
    others), ranker_rank (place among the pool). A rank is null, too, where it is unknown.
    `slates`: one row a (policy, budget), as in the input, with n_tokens, n_turns and complete (null without evidence).
    `in_slate`: one row an evidence turn and slate: number, policy, budget, in_slate, rank (under the policy), and lost:
    where the slate lost it (a word of pipeline.evaluate.losses, null where it did not).
    `recall_repeats`: whether recall, done again, gave the run's pool; if not, no rank outside the pool is known.
    """

    turns: pl.DataFrame
    slates: pl.DataFrame
    in_slate: pl.DataFrame
    n_turns: int
    n_visible: int
    kappa: int
    recall_repeats: bool


def evidence_of(tables: RequestTables, options: PoolOptions, ranker: Ranker | None) -> Evidence:
    """Follows each evidence turn from recall to the slates.

    `options` and `ranker` are those of the run. A pool keeps ranks of its own turns only, so recall is done again over
    the history for those that it left out. Raises ValueError when the ranker takes other features, or what
    pipeline.recall.pools raises.
    """
    gold = pl.DataFrame(tables.labels).select(_TURN).unique().sort(_TURN).with_row_index("number", offset=1)
    seen = _seen(tables)
    ranks, repeats = _ranks(tables, options)
    in_pool = pl.DataFrame(tables.pools).select(*_TURN, "pool_position")
    turns = _described(gold, tables)
    for part in (seen, in_pool, ranks, _ranker_ranks(tables, ranker)):
        turns = turns.join(part, on=_TURN, how="left", maintain_order="left")
    turns = turns.with_columns(pl.col("visible").fill_null(value=False))
    ranks_under = policy_ranks(
        tables.features,
        tables.labels,
        tables.slates,
        ranker,
        tables.rankings,
        tables.pools,
        tables.turns,
        tables.taught,
    )
    in_slate, slates = _slates(turns, tables, ranks_under)
    counts = evidence_counts(pl.DataFrame(tables.labels).unique(), tables.sources)
    return Evidence(
        turns=turns,
        slates=slates,
        in_slate=in_slate,
        n_turns=tables.turns.num_rows,
        n_visible=int(seen["visible"].sum()),
        kappa=int(counts["kappa"].sum()),
        recall_repeats=repeats,
    )


def _described(gold: pl.DataFrame, tables: RequestTables) -> pl.DataFrame:
    said = pl.DataFrame(tables.told).select(*_TURN, "speaker", "role", "n_tokens", text_start=_start(pl.col("text")))
    named = pl.DataFrame(tables.sources).select(*_TURN, "continues", "source_format", "source_session", "source_turn")
    return (
        gold.with_columns(batch_and_session())
        .join(named, on=_TURN, how="left", maintain_order="left")
        .join(said, on=_TURN, how="left", maintain_order="left")
    )


def _start(text: pl.Expr) -> pl.Expr:
    plain = text.str.replace_all(_CONTROL, " ").str.strip_chars()
    return pl.when(plain.str.len_chars() > TEXT_START).then(plain.str.slice(0, TEXT_START) + "…").otherwise(plain)


def _seen(tables: RequestTables) -> pl.DataFrame:
    """Whether the request sees each turn of its history, by the rule that recall follows."""
    nothing = schemas.TERMS.empty_table()
    for history, (request,) in histories(tables.requests, tables.turns, nothing, None, None, {}):
        key = {"session_index": history.session_index, "turn_index": history.turn_index}
        return pl.DataFrame({**key, "visible": visible(history, request)}).with_columns(
            pl.col("turn_index").cast(pl.Int32)
        )
    return pl.DataFrame(schema={"session_index": pl.Int64, "turn_index": pl.Int32, "visible": pl.Boolean})


def _ranks(tables: RequestTables, options: PoolOptions) -> tuple[pl.DataFrame, bool]:
    """recall_rank and the rank in each channel, and whether those of the pool were found again.

    Where they were not (this slatemill recalls otherwise than the one that ran, or codes were made on the fly and are
    not stored), only the pool's own are left. A request without a pool sees nothing or is in quarantine, maybe for what
    recall did with it: it is left alone.
    """
    columns = [*_TURN, pl.col("pool_position").alias("recall_rank"), *[f"{name}_rank" for name in options.scored]]
    of_pool = pl.DataFrame(tables.pools).select(columns).sort("recall_rank")
    if of_pool.is_empty():
        return of_pool, True
    if any(encoder not in tables.late for encoder in options.encoders):
        return of_pool, False
    whole, _ = pools(
        tables.requests,
        tables.turns,
        tables.terms,
        tables.turn_vectors,
        tables.request_vectors,
        options.model_copy(update={"pool_size": tables.turns.num_rows, "record_cited": 0}),
        tables.late,
    )
    of_all = pl.DataFrame(whole).select(columns).sort("recall_rank")
    # What records cite stands behind these, and is not looked for again.
    by_channels = of_pool.filter(pl.col("recall_rank") <= options.pool_size)
    repeats = of_all.head(options.pool_size).equals(by_channels)
    return (of_all if repeats else of_pool), repeats


def _ranker_ranks(tables: RequestTables, ranker: Ranker | None) -> pl.DataFrame:
    if ranker is None:
        return pl.DataFrame(tables.pools).select(*_TURN, ranker_rank=pl.lit(None, pl.Int64))
    order = lambdarank_order(ranker)
    return ranks_by(order, pl.DataFrame(tables.features)).rename({"rank": "ranker_rank"})


def _slates(gold: pl.DataFrame, tables: RequestTables, ranks: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Which slate shows or lost which evidence turn, and the slates: as Evidence has them.

    The candidates of a policy are the pool; of one of `rankings`, what it ranks; of one of memory, all that is visible.
    """
    slates = pl.DataFrame(tables.slates)
    items = slates.select(*_CELL, "items").explode("items", empty_as_null=False)
    shown = items.select(*_CELL, *[pl.col("items").struct.field(name) for name in (*_TURN, "resolution")])
    wanted = pl.DataFrame(tables.labels).unique()
    raw = verbatim_turns(tables.slates, tables.told, wanted).select(*_CELL, *_TURN, in_slate=True)
    at_all = shown.select(*_CELL, *_TURN, shown=True).unique()
    n_turns = shown.group_by(_CELL).agg(n_turns=pl.struct(_TURN).n_unique())
    in_slate = gold.join(slates.select(_CELL), how="cross", maintain_order="left_right")
    for part, on in (
        (raw, [*_CELL, *_TURN]),
        (at_all, [*_CELL, *_TURN]),
        (n_turns, _CELL),
        (ranks, ["policy", *_TURN]),
    ):
        in_slate = in_slate.join(part, on=on, how="left", maintain_order="left")
    of_memory = pl.col("policy").is_in(list(NAMES_OF_MEMORY))
    of_ranking = pl.col("policy").is_in(list(tables.rankings))
    in_slate = in_slate.with_columns(
        pl.col("in_slate", "shown").fill_null(value=False),
        pl.col("n_turns").fill_null(0),
        of_memory=of_memory,
        candidate=pl.when(of_memory)
        .then(pl.col("visible"))
        .when(of_ranking)
        .then(pl.col("rank").is_not_null())
        .otherwise(pl.col("pool_position").is_not_null()),
    ).select("number", *_CELL, "in_slate", "rank", lost=lost())
    complete = in_slate.group_by(_CELL).agg(complete=pl.col("in_slate").all())
    of_cells = slates.select(*_CELL, "n_tokens")
    for part in (n_turns, complete):
        of_cells = of_cells.join(part, on=_CELL, how="left", maintain_order="left")
    return in_slate, of_cells.with_columns(pl.col("n_turns").fill_null(0))

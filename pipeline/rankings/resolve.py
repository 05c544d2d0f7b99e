"""From the names that another system gives to the stored turns that it means: nothing a request must not see."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from pipeline.ingest.settle import batch_and_session
from pipeline.rankings.codes import REASONS, Code
from pipeline.recall.visible import hidden
from pipeline.schemas import QUARANTINE, RANKINGS, REQUEST_KEY, TURN_KEY

_TURN = list(TURN_KEY[1:])
_ROW = ["file", "place"]


@dataclass(frozen=True)
class Resolved:
    """What a ranking says of some requests: `ranking` has the columns of RANKINGS, `lost` those of QUARANTINE, and both
    `seq`, the batch of the request. `counts`: rows `unseen` (their request must not see the turn) and `repeated`."""

    ranking: pl.DataFrame
    lost: pl.DataFrame
    counts: dict[str, int]


def place(rows: pl.DataFrame, asked: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows (ROWS) of stored requests, with the history and the columns of `asked` of each; and those lost (QUARANTINE).

    `asked` has one row a stored request: history_id, request_id, bucket, seq. Where a row says no history, the id of
    the request must be of one history alone.
    """
    named = pl.col("source_turn").is_not_null() | pl.col("position").is_not_null()
    complete = pl.col("request_id").is_not_null() & named & pl.col("score").is_finite().fill_null(value=False)
    usable = rows.filter(complete).with_row_index("number")
    alone = pl.len().over("request_id") == 1
    without = usable.filter(pl.col("history_id").is_null())
    found = [
        usable.join(asked, on=REQUEST_KEY, how="inner"),
        without.drop("history_id").join(asked.filter(alone), on="request_id", how="inner"),
    ]
    placed = pl.concat(found, how="diagonal")
    several = without.join(asked.filter(~alone), on="request_id", how="semi")
    unknown = usable.join(pl.concat([placed.select("number"), several.select("number")]), on="number", how="anti")
    lost = [
        _lost(rows.filter(~complete), Code.INCOMPLETE),
        _lost(unknown, Code.UNKNOWN_REQUEST),
        _lost(several, Code.AMBIGUOUS_REQUEST),
    ]
    return placed.drop("number"), pl.concat(lost)


def resolve(rows: pl.DataFrame, requests: pa.Table, sources: pa.Table, turns: pa.Table) -> Resolved:
    """The turns that placed rows mean, request by request: each turn once, with its highest score.

    `requests`, `sources` and `turns` hold what is stored of the rows' histories: REQUESTS, SOURCES, and of TURNS the
    key and session_time. A name means a turn that had arrived with the request's batch, where one bears it, so that
    what comes later changes nothing; of a turn that was edited, the last such copy that pipeline.recall.visible shows
    the request. A turn of which it shows no copy is left out. What arrived later than the request stays in: only a run
    `as_of` latest reads it.
    """
    named = rows.with_row_index("number")
    pairs = _pairs(named, pl.DataFrame(sources))
    batch, _ = batch_and_session()
    late = batch > pl.col("seq")
    pairs = pairs.filter(late == late.min().over("number"))
    meant = pairs.with_columns(n=pl.struct("session_key", "turn_key").n_unique().over("number"))
    bounds = pl.DataFrame(requests).select(*REQUEST_KEY, "asked_at", "seen_session", "seen_turn")
    times = pl.DataFrame(turns).select(*TURN_KEY, "session_time")
    copies = (
        meant.filter(pl.col("n") == 1).join(bounds, on=REQUEST_KEY, how="left").join(times, on=TURN_KEY, how="left")
    )
    by_copy = copies.with_columns(hidden=hidden()).sort("number", ~pl.col("hidden"), *_TURN)
    judged = by_copy.unique("number", keep="last", maintain_order=True)
    seen = judged.filter(~pl.col("hidden"))
    key = [*REQUEST_KEY, *_TURN]
    ranking = seen.sort(*key, "score", descending=[False] * len(key) + [True]).unique(key, keep="first")
    lost = [
        _lost(named.join(pairs, on="number", how="anti"), Code.UNKNOWN_TURN, "seq"),
        _lost(named.join(meant.filter(pl.col("n") > 1), on="number", how="semi"), Code.AMBIGUOUS_TURN, "seq"),
    ]
    return Resolved(
        ranking=ranking.sort(key).select(*RANKINGS.names, "seq"),
        lost=pl.concat(lost),
        counts={"unseen": judged.height - seen.height, "repeated": seen.height - ranking.height},
    )


def _pairs(named: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Every row with each stored turn of its history that bears its names: by id, or by position where it has no id."""
    stored = sources.select(*TURN_KEY, "source_session", "source_turn", "session_key", "turn_key")
    # turn_key: p and a position, or i and an id.
    position = pl.when(pl.col("turn_key").str.starts_with("p")).then(
        pl.col("turn_key").str.slice(1).cast(pl.Int64, strict=False)
    )
    stored = stored.with_columns(position=position)
    found = []
    for name in ("source_turn", "position"):
        asked = named.filter(pl.col(name).is_not_null()).select(
            "number", *REQUEST_KEY, "seq", "source_session", name, "score"
        )
        bearing = stored.filter(pl.col(name).is_not_null()).select(
            *TURN_KEY, "source_session", name, "session_key", "turn_key"
        )
        in_session, anywhere = (
            asked.filter(pl.col("source_session").is_not_null()),
            asked.filter(pl.col("source_session").is_null()),
        )
        on = ["history_id", name]
        found += [
            in_session.join(bearing, on=[*on, "source_session"], how="inner"),
            anywhere.drop("source_session").join(bearing.drop("source_session"), on=on, how="inner"),
        ]
    columns = ["number", *REQUEST_KEY, "seq", *_TURN, "session_key", "turn_key", "score"]
    return pl.concat([part.select(columns) for part in found])


def _lost(rows: pl.DataFrame, code: Code, *more: str) -> pl.DataFrame:
    """Rows as QUARANTINE has them, each a lost row, with `more` of their columns."""
    said = rows.select(*_ROW, *REQUEST_KEY, *more).with_columns(
        code=pl.lit(code.value), reason=pl.lit(REASONS[code]), origin=pl.lit("row"), weight=pl.lit(1, pl.Int32)
    )
    empty = pl.DataFrame(pl.from_arrow(QUARANTINE.empty_table()))
    return pl.concat([empty.with_columns(*(pl.lit(0, pl.Int64).alias(name) for name in more)), said], how="diagonal")

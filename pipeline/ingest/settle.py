"""Settling: staged rows get their place in the lake, against what is stored there already.

A turn is the same when session key, turn key and content are; it is stored once, whenever and however often it comes.
New or edited turns of a session that is stored, or that came earlier in this batch, form a continuation session.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from models.interfaces import TokenCounter
from pipeline.ingest.arrival import Arrival
from pipeline.ingest.codes import Code
from pipeline.schemas import LABELS, QUARANTINE, REQUEST_KEY, REQUESTS, SOURCES, TURN_KEY, TURNS

POSITION_BITS = 20
MAX_SESSIONS = 1 << POSITION_BITS
"""Session parts that one history may have in one batch: what session_index has room for."""

_SAME_TURN = ["history_id", "session_key", "turn_key", "content_digest"]
_SOURCE_ORDER = ["history_id", "item", "session_position", "turn_position"]
_CITING = ["history_id", "request_id", "item", "request_position"]
_REFERENCE = ["session_key", "source_session", "turn_key", "content_digest"]
_SEEN = [f"seen_{name}" for name in _REFERENCE]
_BOUND = ["seen_session", "seen_turn"]
_REQUEST_CONTENT = [name for name in REQUESTS.names if name not in (*REQUEST_KEY, *_BOUND)]


@dataclass(frozen=True)
class Settled:
    """What one bucket of one batch stores: tables of TURNS, SOURCES, REQUESTS, LABELS and QUARANTINE, sorted by key.

    `counts`: rows stored (turns, requests, labels), sessions and continuation_sessions among them, and what was there
    already (repeated_turns, repeated_requests).
    """

    turns: pa.Table
    sources: pa.Table
    requests: pa.Table
    labels: pa.Table
    quarantine: pa.Table
    counts: dict[str, int]


def batch_and_session() -> list[pl.Expr]:
    """The two parts of session_index: the seq of the batch in which a session arrived, and its place there."""
    parts, per_batch = pl.col("session_index"), 1 << POSITION_BITS
    return [(parts // per_batch).alias("batch"), (parts % per_batch).alias("session")]


def settle(
    arrivals: Sequence[Arrival],
    seq: int,
    stored_sources: pa.Table,
    stored_requests: pa.Table,
    stored_labels: pa.Table,
    counter: TokenCounter,
) -> Settled:
    """Settles all arrivals of one bucket of batch `seq`.

    `stored_sources`, `stored_requests` and `stored_labels` (SOURCES, REQUESTS, LABELS) hold what earlier batches stored
    of the same histories. A request that comes again may cite what had not come before: such labels are stored now.
    session_index is `(seq << 20)` + the position, in source order, among the history's session parts of this batch.
    A request is stored once; one that comes again with other content is quarantined, as is one whose last seen turn is
    not stored; one of a history of which no turn is stored is kept and noted. Raises nothing for what is wrong with the
    data: see `quarantine`.
    """
    stored = _frame(stored_sources)
    staged = _frame(pa.concat_tables([arrival.turns for arrival in arrivals])).sort(_SOURCE_ORDER)
    fresh = staged.unique(_SAME_TURN, keep="first", maintain_order=True)
    fresh = fresh.join(stored, on=_SAME_TURN, how="anti", maintain_order="left")
    placed, overflow = _place(fresh, stored, seq)

    copies = pl.concat([_copies(stored), _copies(placed)])
    asked = _frame(pa.concat_tables([arrival.requests for arrival in arrivals]))
    seen, unseen = _resolve_seen(asked, copies)
    requests, repeated, conflicting = _settle_requests(seen, _frame(stored_requests))
    citations = _frame(pa.concat_tables([arrival.citations for arrival in arrivals]))
    accepted = pl.concat([requests.select(_CITING), repeated.select(_CITING)])
    labels, uncited = _settle_labels(citations, accepted, copies, _frame(stored_labels))
    over_nothing = requests.join(copies, on="history_id", how="anti", maintain_order="left")

    quarantine = pl.concat(
        [
            *[_frame(arrival.quarantine) for arrival in arrivals],
            _lost_sessions(overflow),
            _lost_requests(unseen, Code.UNKNOWN_SEEN, "the last seen turn is not stored"),
            _lost_requests(
                conflicting,
                Code.CONFLICT,
                "a request of this id is stored with other content: give it an id of its own",
            ),
            _notes(uncited, Code.CITATION, "evidence: it names a session and turn that are not stored"),
            _notes(
                _placed(over_nothing),
                Code.NO_TURNS,
                "no turn of its history is stored yet: it sees nothing, or with --as-of latest what comes later",
            ),
        ]
    )
    counts = Counter(
        turns=placed.height,
        sessions=placed["part"].n_unique(),
        continuation_sessions=placed.filter(pl.col("continues").is_not_null())["part"].n_unique(),
        repeated_turns=staged.height - fresh.height,
        requests=requests.height,
        repeated_requests=repeated.height,
        labels=labels.height,
    )
    tokens = pl.Series("n_tokens", counter.count_many(placed["text"].to_list()))
    return Settled(
        turns=_table(placed.with_columns(tokens), TURNS, TURN_KEY),
        sources=_table(placed, SOURCES, TURN_KEY),
        requests=_table(requests, REQUESTS, REQUEST_KEY),
        labels=_table(labels, LABELS, (*REQUEST_KEY, *TURN_KEY[1:])),
        quarantine=_table(quarantine, QUARANTINE, ("history_id", "request_id", "file", "place", "code")),
        counts=dict(counts),
    )


def _place(fresh: pl.DataFrame, stored: pl.DataFrame, seq: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """New turns with their keys, and the turns for which a history has no room left.

    `fresh` is in source order. A part is what one item brings of one of its sessions.
    """
    part = pl.struct("item", "session_position")
    numbered = fresh.with_columns(
        session_part=part.rank("dense").over("history_id").cast(pl.Int64) - 1,
        turn_index=pl.int_range(pl.len(), dtype=pl.Int32).over("history_id", "item", "session_position"),
    )
    room = pl.col("session_part") < MAX_SESSIONS
    placed, overflow = numbered.filter(room), numbered.filter(~room)
    placed = placed.with_columns(session_index=(seq << POSITION_BITS) + pl.col("session_part"))
    earlier = stored.group_by("history_id", "session_key").agg(first_part=pl.col("session_index").min())
    placed = placed.join(earlier, on=["history_id", "session_key"], how="left", maintain_order="left")
    first = pl.coalesce("first_part", pl.col("session_index").min().over("history_id", "session_key"))
    placed = placed.with_columns(continues=pl.when(first != pl.col("session_index")).then(first))
    return placed.with_columns(part=pl.struct("history_id", "session_index")), overflow


def _copies(turns: pl.DataFrame) -> pl.DataFrame:
    """Stored copies of turns, by every name that a reference may use."""
    return turns.select(*_SAME_TURN, "source_session", *TURN_KEY[1:])


def _resolve(references: pl.DataFrame, copies: pl.DataFrame) -> pl.DataFrame:
    """Adds the session_index and turn_index of what _REFERENCE names, null where no stored turn is meant.

    A reference without a session key uses the source's name of the session. Where several bear it, a turn's id may mean
    a turn of one of them only, and a position means none. Of a turn that was edited it means the last copy.
    """
    exact = references.filter(pl.col("session_key").is_not_null()).join(
        copies.drop("source_session"), on=_SAME_TURN, how="left"
    )
    by_name = ["history_id", "source_session", "turn_key"]
    # turn_key: p and a position, or i and an id.
    sessions, by_position = pl.col("session_key").n_unique(), pl.col("turn_key").str.starts_with("p")
    called = (
        copies.with_columns(
            meant=pl.when(by_position).then(sessions.over(by_name[:2])).otherwise(sessions.over(by_name))
        )
        .filter(pl.col("meant") == 1)
        .sort(TURN_KEY[1:])
        .group_by(by_name, maintain_order=True)
        .agg(pl.col(*TURN_KEY[1:]).last())
    )
    named = references.filter(pl.col("session_key").is_null()).join(called, on=by_name, how="left")
    return pl.concat([exact, named.select(exact.columns)])


def _resolve_seen(asked: pl.DataFrame, copies: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Requests with seen_session and seen_turn, and those whose last seen turn is not stored.

    What lies before the first turn of a session is named by that session and turn -1.
    """
    renamed = asked.rename(dict(zip(_SEEN, _REFERENCE, strict=True)))
    resolved = _resolve(renamed, copies).rename({"session_index": "seen_session", "turn_index": "seen_turn"})
    resolved = resolved.with_columns(pl.col("seen_turn") - pl.col("seen_before").cast(pl.Int32))
    found = pl.col("turn_key").is_null() | pl.col("seen_session").is_not_null()
    return resolved.filter(found), resolved.filter(~found)


def _settle_requests(asked: pl.DataFrame, stored: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Requests to be stored, those that are there already, and those whose id is taken by other content.

    What is stored counts as first; within the batch the first in source order does. A bound that the reader set before
    what the request does not see (`seen_before`) is no content: it hangs on what had arrived of it.
    """
    columns = [*REQUEST_KEY, *_REQUEST_CONTENT, *_BOUND]
    before = stored.select(
        *columns,
        seen_before=pl.lit(value=False),
        item=pl.lit(-1, pl.Int64),
        request_position=pl.lit(0, pl.Int64),
        file=pl.lit(None, pl.String),
        file_item=pl.lit(None, pl.Int64),
    )
    every = pl.concat([before, asked.select(before.columns)]).sort(*REQUEST_KEY, "item", "request_position")
    content, bound = pl.struct(_REQUEST_CONTENT), pl.struct(_BOUND)
    judged = every.with_columns(
        first=pl.int_range(pl.len()).over(REQUEST_KEY) == 0,
        same=content.eq_missing(content.first().over(REQUEST_KEY))
        & (bound.eq_missing(bound.first().over(REQUEST_KEY)) | pl.col("seen_before")),
    ).filter(pl.col("item") >= 0)
    repeated = judged.filter(~pl.col("first") & pl.col("same"))
    return judged.filter("first"), repeated, judged.filter(~pl.col("same"))


def _settle_labels(
    citations: pl.DataFrame, requests: pl.DataFrame, copies: pl.DataFrame, stored: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Labels that are new of requests that came now, and the citations of theirs that mean no stored turn.

    A turn is labelled once, by the copy that was there first: an edited copy is no second piece of evidence.
    """
    cited = citations.join(requests, on=_CITING, how="semi", maintain_order="left")
    resolved = _resolve(cited, copies)
    found = pl.col("session_index").is_not_null()
    meant = [*REQUEST_KEY, "session_key", "turn_key"]
    named = copies.select(*TURN_KEY, "session_key", "turn_key")
    before = stored.join(named, on=TURN_KEY, how="inner").select(meant)
    labels = resolved.filter(found).select(LABELS.names).unique()
    new = labels.join(named, on=TURN_KEY, how="left").join(before, on=meant, how="anti")
    return new.select(LABELS.names), resolved.filter(~found)


def _lost_sessions(overflow: pl.DataFrame) -> pl.DataFrame:
    reason = f"a history has room for {MAX_SESSIONS} sessions in one batch: deliver the rest in another source"
    lost = overflow.group_by("history_id").agg(pl.col("file", "file_item", "session_position").first(), weight=pl.len())
    place = pl.format("item {}, session {} and what follows", "file_item", "session_position")
    rows = lost.with_columns(place=place, request_id=pl.lit(None, pl.String))
    return _quarantined(rows, Code.NO_ROOM, reason)


def _lost_requests(requests: pl.DataFrame, code: Code, reason: str) -> pl.DataFrame:
    return _quarantined(_placed(requests).with_columns(weight=pl.lit(1)), code, reason)


def _placed(requests: pl.DataFrame) -> pl.DataFrame:
    return requests.with_columns(place=pl.format("item {}, request {}", "file_item", "request_position"))


def _notes(noted: pl.DataFrame, code: Code, reason: str) -> pl.DataFrame:
    return _quarantined(noted.with_columns(weight=pl.lit(0)), code, reason)


def _quarantined(rows: pl.DataFrame, code: Code, reason: str) -> pl.DataFrame:
    """Rows of QUARANTINE from rows with history_id, request_id, file, place and weight."""
    return rows.select(
        "history_id",
        "request_id",
        session_index=pl.lit(None, pl.Int64),
        turn_index=pl.lit(None, pl.Int32),
        file="file",
        place="place",
        code=pl.lit(code.value),
        reason=pl.lit(reason),
        origin=pl.lit("row"),
        weight=pl.col("weight").cast(pl.Int32),
    )


def _frame(table: pa.Table) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(table))


def _table(rows: pl.DataFrame, schema: pa.Schema, keys: Sequence[str]) -> pa.Table:
    return rows.sort(keys, nulls_last=False).select(schema.names).to_arrow().cast(schema)

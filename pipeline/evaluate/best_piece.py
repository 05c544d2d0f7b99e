"""Units against pieces, by how well words find the evidence (FlexA-Mem, arXiv 2610.33274, figure 4b)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from pipeline import schemas
from pipeline.evaluate.paired import Difference, difference
from pipeline.ingest.settle import batch_and_session
from pipeline.memory.notes import Notes, NoteTables, notes
from pipeline.memory.view import View
from pipeline.recall.analyzer import analyze
from pipeline.recall.history import Floats, Mask, Request
from pipeline.units.cut import CutOptions

PAIR = ("unit_recovery", "piece_recovery")
"""The policies that are compared, where none are named."""
BINS: dict[str, pl.Expr] = {
    "rank 1": pl.col("rank") == 1,
    "rank 2-5": pl.col("rank").is_between(2, 5),
    "rank 6-20": pl.col("rank").is_between(6, 20),
    "above 20": (pl.col("rank") > 20) | pl.col("rank").is_null(),
}
"""By name, which ranks of the best evidence piece belong to it."""

_KEY = ["history_id", "request_id"]
_SCHEMA = {"history_id": pl.String, "request_id": pl.String, "rank": pl.Int64}
_NO_TERMS = np.zeros(0, np.int64)


def best_piece_ranks(
    requests: pl.DataFrame,
    labels: pa.Table,
    turns: pa.Table,
    units: pa.Table,
    pieces: pa.Table,
    cut: CutOptions,
    as_of: str = "arrival",
) -> pl.DataFrame:
    """The rank, from 1, that BM25 gives to the best piece of each request's evidence: history_id, request_id, rank.

    BM25 is that of pipeline.memory, over the pieces that the request sees, by the request's own words; of equal scores
    the earlier piece comes first. rank is null where no evidence piece scores above zero: none has a word of the
    request that tells pieces apart. A request of which no evidence piece is visible has no row. `requests` is REQUESTS
    (without answer) with the `seq` of their batch; unless the run read `as_of` latest, they see what arrived up to it.
    `turns`, `units` and `pieces` as their schemas, `cut` says how long units are.
    """
    known = requests.join(_frame(labels).select(_KEY).unique(), on=_KEY, how="semi").sort(_KEY)
    found = [pl.DataFrame(schema=_SCHEMA)]
    for (seq,), asked in known.group_by("seq", maintain_order=True):
        last = None if as_of == "latest" else int(str(seq))
        noted = NoteTables(
            turns=_arrived(turns, asked, last),
            units=_arrived(units, asked, last),
            pieces=_arrived(pieces, asked, last),
            records=schemas.RECORDS.empty_table(),
            merged_records=schemas.MERGED_RECORDS.empty_table(),
        )
        of_history = dict(asked.group_by("history_id", maintain_order=True))
        evidence = dict(_frame(labels).join(asked, on=_KEY, how="semi").group_by(_KEY))
        for history in notes(noted):
            rows = of_history[(history.history_id,)]
            found.append(pl.DataFrame(list(_ranks(history, rows, evidence, cut)), _SCHEMA, orient="row"))
    return pl.concat(found)


def by_best_piece(
    outcomes: pl.DataFrame, ranks: pl.DataFrame, ours: str, theirs: str, draws: int, seed: int
) -> list[Difference]:
    """Slate completeness of policy `ours` less that of `theirs`, request by request: a row a (bin, budget).

    `outcomes` (completeness.outcomes) are of the requests that count, `ranks` as best_piece_ranks; a request without
    a row there is left out. A row's stratum is the name of its bin; bins without a request have none.
    """
    sides = [
        outcomes.filter(pl.col("policy") == policy).select(*_KEY, "budget", pl.col("slate_complete").alias(name))
        for policy, name in ((ours, "slate_complete"), (theirs, "against"))
    ]
    both = sides[0].join(sides[1], on=[*_KEY, "budget"], how="inner").join(ranks, on=_KEY, how="inner").sort(_KEY)
    cells = [
        (name, budget, both.filter((pl.col("budget") == budget) & condition))
        for budget in both["budget"].unique().sort()
        for name, condition in BINS.items()
    ]
    return [difference(name, budget, budget, rows, draws, seed) for name, budget, rows in cells if rows.height]


def _ranks(
    history: Notes, asked: pl.DataFrame, evidence: dict[tuple[object, ...], pl.DataFrame], cut: CutOptions
) -> Iterator[tuple[str, str, int | None]]:
    """History, request and rank of each request that sees a piece of its evidence."""
    views: dict[tuple[object, ...], View] = {}
    turns = zip(history.turns.session_index.tolist(), history.turns.turn_index.tolist(), strict=True)
    place = {turn: at for at, turn in enumerate(turns)}
    terms = analyze(asked["text"]).to_list()
    bounds = asked.select("request_id", pl.col("asked_at").dt.replace_time_zone(None), "seen_session", "seen_turn")
    for (request_id, asked_at, session, turn), words in zip(bounds.iter_rows(), terms, strict=True):
        time = np.datetime64(asked_at, "us")
        if (asked_at, session, turn) not in views:
            seen = Request(request_id, time, session, turn, _NO_TERMS, None)
            views[asked_at, session, turn] = View(history, seen, cut)
        view = views[asked_at, session, turn]
        cited = evidence[history.history_id, request_id].select("session_index", "turn_index").iter_rows()
        holds = _holds(view, [place[turn] for turn in cited if turn in place])
        if holds.any():
            yield history.history_id, request_id, _best(view.bm25(history.coded(words)), holds)


def _holds(view: View, turns: Sequence[int]) -> Mask:
    """Which of the visible pieces lie in turns at these places, shape (pieces,)."""
    of_turn = np.zeros(len(view.seen), np.bool_)
    of_turn[np.array(turns, np.int64)] = True
    held: Mask = of_turn[view.notes.pieces.turn[view.piece]]
    return held


def _best(scores: Floats, holds: Mask) -> int | None:
    """The rank of the best piece that `holds`, of scores of the same shape; None where it scores not above zero."""
    order = np.argsort(-scores, kind="stable")
    first = int(np.argmax(holds[order]))
    return first + 1 if scores[order[first]] > 0 else None


def _arrived(table: pa.Table, asked: pl.DataFrame, last: int | None) -> pa.Table:
    """The rows of the histories of `asked` that arrived up to the batch `last` (None: all)."""
    batch, _ = batch_and_session()
    upto = pl.lit(value=True) if last is None else batch <= last
    return _frame(table).join(asked, on="history_id", how="semi").filter(upto).to_arrow()


def _frame(table: pa.Table) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(table))

"""Stages `records` and `merged_records`: what a writer tells of units, and of the nodes of the tree over records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import polars as pl
import pyarrow as pa

from models.interfaces import TokenCounter
from pipeline.ingest.steps import ACTION, BLOCK, OBSERVATION
from pipeline.records.closed import newly_closed
from pipeline.records.record import MERGED_CUT, RECORD_WORDS, RecordWriter, UnitText, UnitTurn
from pipeline.schemas import MERGED_RECORDS, RECORDS, TURN_KEY, UNIT_KEY
from pipeline.units.cut import CutOptions

FANOUT = 4
"""Nodes or records that one node stands for."""


def records(
    of_batch: pa.Table,
    units: pa.Table,
    turns: pa.Table,
    writer: RecordWriter,
    options: CutOptions,
    counter: TokenCounter,
) -> pa.Table:
    """Records (RECORDS) of the units that a batch closes, sorted by history and leaf.

    `of_batch` are the units (UNITS) of the batch; `units` and `turns` (TURNS) those of its histories, of all that
    arrived up to it.
    """
    closed = newly_closed(_frame(units), _frame(of_batch), options)
    written = writer.write(list(_texts(closed, _frame(turns))))
    rows = [
        {**unit, **asdict(record), "text": _words(record.text, RECORD_WORDS)}
        for unit, record in zip(
            closed.select(*UNIT_KEY, "session_time", "leaf").iter_rows(named=True), written, strict=True
        )
    ]
    counts = counter.count_many([row["text"] for row in rows])
    return pa.Table.from_pylist([{**row, "n_tokens": int(n)} for row, n in zip(rows, counts, strict=True)], RECORDS)


def merged_records(of_batch: pa.Table, records: pa.Table, writer: RecordWriter, counter: TokenCounter) -> pa.Table:
    """Merged records (MERGED_RECORDS) of the nodes that a batch completes, sorted by history, level and node.

    `of_batch` are the records (RECORDS) of the batch, `records` those of its histories up to it. A node is written of
    the records below it, not of the nodes between: so it depends on no other text than theirs.
    """
    new = _frame(of_batch.select(["history_id", "leaf"])).group_by("history_id").agg(first=pl.col("leaf").min())
    told = _frame(records.select(["history_id", "leaf", "text"])).sort("history_id", "leaf")
    of_history = told.group_by("history_id", maintain_order=True).agg("text").join(new, on="history_id", how="inner")
    nodes = [
        (history, level, node, texts[node * FANOUT**level : (node + 1) * FANOUT**level])
        for history, texts, first in of_history.sort("history_id").iter_rows()
        for level, node in _completed(first, len(texts))
    ]
    merged = writer.merge([texts for *_, texts in nodes])
    rows: list[dict[str, Any]] = [
        {"history_id": history, "level": level, "node": node, **asdict(one), "text": _words(one.text, MERGED_CUT)}
        for (history, level, node, _), one in zip(nodes, merged, strict=True)
    ]
    counts = counter.count_many([row["text"] for row in rows])
    return pa.Table.from_pylist(
        [{**row, "n_tokens": int(n)} for row, n in zip(rows, counts, strict=True)], MERGED_RECORDS
    )


def _completed(before: int, after: int) -> Iterator[tuple[int, int]]:
    """(level, node) of the nodes that are complete with `after` leaves and were not with `before`."""
    level = 1
    while (size := FANOUT**level) <= after:
        for node in range(before // size, after // size):
            yield level, node
        level += 1


def unit_texts(units: pa.Table, turns: pa.Table) -> list[UnitText]:
    """Units (UNITS) as a writer reads them, in order; `turns` (TURNS) are those of their sessions."""
    return list(_texts(_frame(units), _frame(turns)))


def _texts(units: pl.DataFrame, turns: pl.DataFrame) -> Iterator[UnitText]:
    """The text of each unit, in order."""
    said = (
        units.with_row_index("unit")
        .with_columns(turn_index=pl.int_ranges("first_turn", pl.col("last_turn") + 1, dtype=pl.Int32))
        .explode("turn_index")
        .join(turns.select(*TURN_KEY, "role", "speaker", "text"), on=list(TURN_KEY), how="inner")
        .with_columns(
            pl.when(pl.col("of_a_long_turn"))
            .then(pl.col("text").str.slice("start", pl.col("end") - pl.col("start")))
            .otherwise("text"),
            before=pl.when(pl.col("of_a_long_turn") & pl.col("agent")).then(pl.col("text").str.slice(0, "start")),
        )
        .sort("unit", "turn_index")
    )
    of_unit = said.partition_by("unit", as_dict=True)
    for number, (agent, time) in enumerate(units.select("agent", "session_time").iter_rows()):
        rows = of_unit[(number,)].select("turn_index", "role", "speaker", "text", "before").iter_rows()
        read = (UnitTurn(index, role, name, going_on(before or "") + text) for index, role, name, text, before in rows)
        yield UnitText(agent, time, tuple(read))


def going_on(before: str) -> str:
    """What stands before a part of a step so that it tells what it is part of: the first line of the action whose
    outcome goes on there. Empty where the part begins anywhere else. `before` is the step's text up to there."""
    blocks = [found.start() for found in BLOCK.finditer(before)]
    if len(blocks) < 2 or not before.startswith(OBSERVATION, blocks[-1]) or not before.startswith(ACTION, blocks[-2]):
        return ""
    action = before[blocks[-2] : blocks[-1]].split("\n", maxsplit=1)[0]
    return f"{action}\n{OBSERVATION}\n"


def _words(text: str, most: int) -> str:
    """A text as one line of at most so many words."""
    return " ".join(text.split()[:most])


def _frame(table: pa.Table) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(table))

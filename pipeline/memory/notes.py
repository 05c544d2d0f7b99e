"""One history as it is noted: its turns, units, records, links, merged records and pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from pipeline.recall.bm25 import Postings
from pipeline.recall.history import Floats, History, Ints, Lists
from pipeline.render.slate_text import in_time_order
from pipeline.schemas import RECORDS, UNIT_KEY

NO_RECORD = -1
_UNIT_INTS = (
    "session_index", "unit_index", "first", "start", "last", "end", "n_tokens", "of_a_long_turn", "leaf",
)  # fmt: skip


@dataclass(frozen=True)
class NoteTables:
    """What is stored of the histories of a bucket, up to the batch of the requests; schemas as the names say."""

    turns: pa.Table
    units: pa.Table
    pieces: pa.Table
    records: pa.Table
    merged_records: pa.Table
    links: pa.Table | None = None
    unit_vectors: pa.Table | None = None
    span_vectors: pa.Table | None = None


@dataclass(frozen=True)
class Turns:
    """The turns of a history in the order in which slates show them; lists of equal length. `said_by` is the speaker,
    or the role where none is named."""

    session_index: Ints
    turn_index: Ints
    session_time: list[datetime | None]
    role: list[str]
    said_by: list[str]
    text: list[str]
    n_tokens: Ints


@dataclass(frozen=True)
class Units:
    """The stored units of a history, by place: arrays of equal length.

    `first` and `last` are places among its turns, `start` and `end` characters of these. `leaf` is NO_RECORD where a
    unit has no record; `record` is its text, `keywords`, `tags` and `description` what it may be found by, `found_by`
    these in one text, `facts` what it tells.
    """

    session_index: Ints
    unit_index: Ints
    first: Ints
    start: Ints
    last: Ints
    end: Ints
    n_tokens: Ints
    of_a_long_turn: Ints
    leaf: Ints
    record: list[str]
    keywords: list[list[str]]
    tags: list[list[str]]
    description: list[str]
    found_by: list[str]
    facts: list[list[dict[str, Any]]]


@dataclass(frozen=True)
class Pieces:
    """The pieces of a history, by place: arrays of equal length. `turn` is the place of the turn that holds it."""

    turn: Ints
    start: Ints
    end: Ints
    n_tokens: Ints


@dataclass(frozen=True)
class Spans:
    """The spans of a history's units: arrays of equal length. `unit` is the row of the unit, `last` the place of the
    turn that it ends in, `vectors` have shape (spans, dim)."""

    unit: Ints
    last: Ints
    vectors: Floats


@dataclass(frozen=True)
class Notes:
    """One history. `links` has shape (n, 2), the units that they join; `vectors` (units, dim), NaN for a unit without.

    `nodes` are merged records by level and node; `codes` the code of each term in `postings`, which are over pieces.
    """

    history_id: str
    agent: bool
    turns: Turns
    units: Units
    pieces: Pieces
    postings: Postings
    piece_terms: Lists
    codes: Mapping[str, int]
    nodes: Mapping[tuple[int, int], str]
    links: Ints
    vectors: Floats | None
    spans: Spans | None
    history: History

    def coded(self, terms: list[str]) -> Ints:
        """The codes of those terms that any piece has, each once, in order of code."""
        return np.unique(np.array([self.codes[term] for term in terms if term in self.codes], np.int64))


def notes(tables: NoteTables) -> Iterator[Notes]:
    """Each history that has turns, by history_id."""
    of_table = {
        name: _by_history(getattr(tables, name))
        for name in ("units", "pieces", "records", "merged_records", "links", "unit_vectors", "span_vectors")
    }
    for (history_id,), turns in _frame(tables.turns).sort("history_id").group_by("history_id", maintain_order=True):
        yield _of_history(str(history_id), turns, {name: rows.get(history_id) for name, rows in of_table.items()})


def _by_history(table: pa.Table | None) -> dict[Any, pl.DataFrame]:
    if table is None:
        return {}
    return {key: rows for (key,), rows in _frame(table).group_by("history_id", maintain_order=True)}


def _of_history(history_id: str, turns: pl.DataFrame, of: Mapping[str, pl.DataFrame | None]) -> Notes:
    ordered = in_time_order(turns).with_row_index("place")
    places = ordered.select("session_index", "turn_index", pl.col("place").cast(pl.Int64))
    units = _units(of["units"], of["records"], places)
    rows = units.select(*UNIT_KEY, pl.int_range(pl.len()).alias("row"))
    pieces = _pieces(of["pieces"], places, ordered["text"])
    terms, codes = _coded(pieces)
    return Notes(
        history_id=history_id,
        agent=bool(units["agent"].any()),
        turns=Turns(
            _ints(ordered["session_index"]),
            _ints(ordered["turn_index"]),
            ordered["session_time"].to_list(),
            ordered["role"].to_list(),
            ordered.select(pl.coalesce("speaker", "role")).to_series().to_list(),
            ordered["text"].to_list(),
            _ints(ordered["n_tokens"]),
        ),
        units=Units(
            **{name: _ints(units[name]) for name in _UNIT_INTS},
            record=units["record"].to_list(),
            keywords=units["keywords"].to_list(),
            tags=units["tags"].to_list(),
            description=units["description"].to_list(),
            found_by=units["found_by"].to_list(),
            facts=units["facts"].to_list(),
        ),
        pieces=Pieces(*(_ints(pieces[name]) for name in ("place", "start", "end", "n_tokens"))),
        postings=Postings(terms),
        piece_terms=terms,
        codes=codes,
        nodes=_nodes(of["merged_records"]),
        links=_links(of["links"], rows),
        vectors=_vectors(of["unit_vectors"], rows),
        spans=_spans(of["span_vectors"], rows, places),
        history=History(
            history_id,
            _ints(ordered["session_index"]),
            _ints(ordered["turn_index"]),
            ordered["session_time"].dt.replace_time_zone(None).to_numpy(),
            Lists(np.zeros(0, np.int64), np.zeros(len(ordered) + 1, np.int64)),
            None,
        ),
    )


def _units(units: pl.DataFrame | None, records: pl.DataFrame | None, places: pl.DataFrame) -> pl.DataFrame:
    """Units by place, with the record of each that has one."""
    if units is None:
        raise ValueError("a history has turns and no units: stage `units` has not run")
    located = _placed(_placed(units, places, "first_turn", "first"), places, "last_turn", "last")
    written = _frame(RECORDS.empty_table()) if records is None else records
    words = pl.concat_list("keywords", "tags").list.join(" ")
    told = written.select(
        *UNIT_KEY,
        *("leaf", "facts", "keywords", "tags", "description"),
        record="text",
        found_by=pl.concat_str(words, "description", separator=" "),
    )
    return (
        located.join(told, on=list(UNIT_KEY), how="left")
        .with_columns(pl.col("leaf").fill_null(NO_RECORD), pl.col("record", "found_by", "description").fill_null(""))
        .with_columns(pl.col("facts", "keywords", "tags").fill_null([]))
        .sort("first", "start")
    )


def _pieces(pieces: pl.DataFrame | None, places: pl.DataFrame, texts: pl.Series) -> pl.DataFrame:
    """Pieces by place, but for those that are blank: they have nothing to show."""
    if pieces is None:
        raise ValueError("a history has turns and no pieces: stage `pieces` has not run")
    placed = pieces.join(places, on=["session_index", "turn_index"], how="inner").sort("place", "start")
    text = texts.gather(placed["place"])
    shown = placed.with_columns(text=text).select(pl.col("text").str.slice("start", pl.col("end") - pl.col("start")))
    return placed.filter(shown["text"].str.contains(r"\S"))


def _placed(units: pl.DataFrame, places: pl.DataFrame, turn: str, name: str) -> pl.DataFrame:
    there = places.rename({"turn_index": turn, "place": name})
    return units.join(there, on=["session_index", turn], how="inner")


def _coded(pieces: pl.DataFrame) -> tuple[Lists, dict[str, int]]:
    """The terms of pieces as codes, in order of the alphabet, and the code of each."""
    flat = pieces["terms"].explode(empty_as_null=False)
    known = flat.unique().sort()
    codes = {term: code for code, term in enumerate(known.to_list())}
    values = flat.replace_strict(known, pl.Series(range(len(known)), dtype=pl.Int64), return_dtype=pl.Int64)
    lengths = pieces["terms"].list.len().to_numpy().astype(np.int64)
    return Lists(_ints(values), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)), codes


def _nodes(merged: pl.DataFrame | None) -> dict[tuple[int, int], str]:
    if merged is None:
        return {}
    return {(level, node): text for level, node, text in merged.select("level", "node", "text").iter_rows()}


def _links(links: pl.DataFrame | None, rows: pl.DataFrame) -> Ints:
    if links is None:
        return np.zeros((0, 2), np.int64)
    to = rows.select("row", to_session="session_index", to_unit="unit_index").rename({"row": "to"})
    found = links.join(rows, on=list(UNIT_KEY), how="inner").join(to, on=["to_session", "to_unit"], how="inner")
    return found.select("row", "to").cast(pl.Int64).to_numpy().reshape(-1, 2)


def _vectors(vectors: pl.DataFrame | None, rows: pl.DataFrame) -> Floats | None:
    if vectors is None:
        return None
    located = vectors.join(rows, on=list(UNIT_KEY), how="inner", maintain_order="left")
    values = located["vector"].to_numpy()
    placed = np.full((len(rows), values.shape[1]), np.nan)
    placed[located["row"].to_numpy()] = values
    return placed


def _spans(spans: pl.DataFrame | None, rows: pl.DataFrame, places: pl.DataFrame) -> Spans | None:
    if spans is None:
        return None
    located = (
        _placed(spans, places, "last_turn", "last")
        .join(rows, on=list(UNIT_KEY), how="inner")
        .sort("row", "last", "end")
    )
    return Spans(_ints(located["row"]), _ints(located["last"]), located["vector"].to_numpy().astype(np.float64))


def _ints(column: pl.Series) -> Ints:
    return column.cast(pl.Int64).to_numpy()


def _frame(table: pa.Table) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(table))

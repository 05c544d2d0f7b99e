"""From the tables of a bucket to one history at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.recall.analyzer import analyze
from pipeline.recall.history import Halves, History, Ints, Lists, Request, Windows
from pipeline.schemas import REQUEST_KEY, TEXT, TURN_KEY

UNKNOWN_TERM = -1
"""Code of a request's term that no turn has."""


def histories(
    requests: pa.Table,
    turns: pa.Table,
    terms: pa.Table,
    turn_vectors: pa.Table | None,
    request_vectors: pa.Table | None,
) -> Iterator[tuple[History, list[Request]]]:
    """Each history that has both turns and requests, by history_id, with its requests by request_id.

    Tables have the schemas of pipeline.schemas, rows in any order; those of turns may hold several batches. A turn
    without terms or vectors (a stage put it into quarantine) is there without them. Beyond the tables and one copy of
    their vectors, memory is that of one history. Raises ValueError when a turn is there twice.
    """
    asked = pl.DataFrame(pl.from_arrow(requests)).sort(*REQUEST_KEY)
    stored = _turns_with_terms(turns, terms, asked["history_id"])
    turn_terms, request_terms = _coded(stored["terms"], analyze(asked["text"]))
    request_vector = _request_vectors(asked, request_vectors)
    window_table = None if turn_vectors is None else _WindowTable(turn_vectors, stored)
    requests_of = dict(_runs(asked["history_id"]))
    for history_id, (start, stop) in _runs(stored["history_id"]):
        block = stored[start:stop]
        history = History(
            history_id=history_id,
            session_index=block["session_index"].to_numpy(),
            turn_index=block["turn_index"].cast(pl.Int64).to_numpy(),
            session_time=block["session_time"].dt.replace_time_zone(None).to_numpy(),
            terms=turn_terms.slice(start, stop),
            windows=None if window_table is None else window_table.of_turns(start, stop),
        )
        first, last = requests_of[history_id]
        bounds = asked[first:last].select(
            "request_id", pl.col("asked_at").dt.replace_time_zone(None), "seen_session", "seen_turn"
        )
        yield (
            history,
            [
                Request(row[0], np.datetime64(row[1], "us"), row[2], row[3], request_terms[k], request_vector[k])
                for k, row in enumerate(bounds.iter_rows(), start=first)
            ],
        )


def _turns_with_terms(turns: pa.Table, terms: pa.Table, history_ids: pl.Series) -> pl.DataFrame:
    """Turns of the histories with their terms, sorted by key and numbered by `row`."""
    keys = pl.DataFrame(pl.from_arrow(turns.select([*TURN_KEY, "session_time"])))
    keys = keys.filter(pl.col("history_id").is_in(history_ids.unique().implode())).sort(*TURN_KEY)
    if keys.select(pl.struct(TURN_KEY).is_duplicated().any()).item():
        raise ValueError("a turn is there twice: the batches handed over overlap")
    with_terms = keys.join(
        pl.DataFrame(pl.from_arrow(terms)), on=list(TURN_KEY), how="left", maintain_order="left", validate="1:1"
    )
    return with_terms.with_columns(pl.col("terms").fill_null([])).with_row_index("row")


def _coded(turn_terms: pl.Series, request_terms: pl.Series) -> tuple[Lists, Lists]:
    """Terms as codes: equal codes where terms are equal, UNKNOWN_TERM where a request's term is in no turn."""
    turn_lists, request_lists = (_large_lists(series) for series in (turn_terms, request_terms))
    encoded = turn_lists.flatten().dictionary_encode()
    codes = pc.index_in(request_lists.flatten(), value_set=encoded.dictionary).fill_null(UNKNOWN_TERM)
    return (
        Lists(encoded.indices.to_numpy().astype(np.int64), _offsets(turn_terms)),
        Lists(codes.to_numpy().astype(np.int64), _offsets(request_terms)),
    )


def _large_lists(series: pl.Series) -> pa.LargeListArray:
    return series.to_arrow().cast(pa.large_list(TEXT))


def _offsets(lists: pl.Series) -> Ints:
    return np.concatenate([[0], lists.list.len().to_numpy().astype(np.int64).cumsum()]).astype(np.int64)


def _runs(ids: pl.Series) -> Iterator[tuple[str, tuple[int, int]]]:
    """(id, (start, stop)) of each run of equal ids in sorted rows."""
    runs = ids.rle().struct.unnest()
    stops = runs["len"].cast(pl.Int64).cum_sum()
    for run_id, stop, length in zip(runs["value"], stops, runs["len"], strict=True):
        yield run_id, (stop - length, stop)


class _WindowTable:
    """Vectors of all turns in one block, found again by the turns' rows."""

    def __init__(self, turn_vectors: pa.Table, stored: pl.DataFrame) -> None:
        keys = pl.DataFrame(pl.from_arrow(turn_vectors.select([*TURN_KEY, "window"]))).with_row_index("source")
        located = keys.join(stored.select(*TURN_KEY, "row"), on=list(TURN_KEY), how="inner").sort("row", "window")
        self._row = located["row"].to_numpy().astype(np.int64)
        self._source = located["source"].to_numpy().astype(np.int64)
        self._vectors = _matrix(turn_vectors["vector"])

    def of_turns(self, start: int, stop: int) -> Windows:
        first, last = np.searchsorted(self._row, [start, stop])
        return Windows(self._vectors[self._source[first:last]], self._row[first:last] - start)


def _request_vectors(asked: pl.DataFrame, request_vectors: pa.Table | None) -> list[Halves | None]:
    """The vector of each request, None where there is none."""
    if request_vectors is None:
        return [None] * len(asked)
    vectors = _matrix(request_vectors["vector"])
    located = pl.DataFrame(pl.from_arrow(request_vectors.select(list(REQUEST_KEY)))).with_row_index("source")
    source = asked.select(REQUEST_KEY).join(
        located, on=list(REQUEST_KEY), how="left", maintain_order="left", validate="1:1"
    )["source"]
    return [None if row is None else vectors[row] for row in source]


def _matrix(column: pa.ChunkedArray) -> Halves:
    """A fixed-size list column as a matrix, shape (rows, dim)."""
    dim = column.type.list_size
    if len(column) == 0:
        return np.zeros((0, dim), np.float16)
    values = [chunk.flatten().to_numpy() for chunk in column.chunks]
    return np.concatenate(values).reshape(-1, dim)

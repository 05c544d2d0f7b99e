"""Stages `turn_vectors`, `request_vectors`, `unit_vectors`, `span_vectors`: what an embedder makes of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from models.interfaces import Embedder
from pipeline.quarantined import not_finite
from pipeline.recall.indexed_text import indexed_text
from pipeline.schemas import REQUEST_KEY, TURN_KEY, UNIT_KEY
from pipeline.schemas import request_vectors as request_vectors_schema
from pipeline.schemas import span_vectors as span_vectors_schema
from pipeline.schemas import turn_vectors as turn_vectors_schema
from pipeline.schemas import unit_vectors as unit_vectors_schema

Vectors = npt.NDArray[np.float32]
Positions = npt.NDArray[np.int64]

SPAN_TOKENS = 150
"""Tokens with which a span of a unit is full."""


def turn_vectors(turns: pa.Table, embedder: Embedder) -> tuple[pa.Table, pa.Table]:
    """Vectors of each turn's indexed text, one a window of the embedder: (schema turn_vectors(dim), QUARANTINE).

    Rows are sorted by turn key and window. A turn with a vector that is not finite goes to quarantine whole, and so has
    no dense score. Identical texts are embedded once.
    """
    keys = pl.DataFrame(pl.from_arrow(turns.select(list(TURN_KEY))))
    order = keys.select(pl.arg_sort_by(*TURN_KEY)).to_series()
    keys = keys[order]
    rows, vectors = _embed_distinct(indexed_text(turns)[order], embedder)
    bad = np.bincount(rows[_not_finite(vectors)], minlength=len(keys)) > 0
    kept = ~bad[rows]
    rows, vectors = rows[kept], vectors[kept]
    window = np.arange(len(rows)) - np.searchsorted(rows, rows)
    columns = [*_columns(keys[rows]), pa.array(window, pa.int32()), _vector_column(vectors, embedder.dim)]
    table = pa.Table.from_arrays(columns, schema=turn_vectors_schema(embedder.dim))
    return table, not_finite(keys.filter(bad), f"embedder {embedder.name}")


def request_vectors(requests: pa.Table, embedder: Embedder) -> tuple[pa.Table, pa.Table]:
    """One vector of each request's text: (schema request_vectors(dim), QUARANTINE), sorted by history and request.

    A text longer than the embedder's window gets the mean of its windows' vectors, scaled to unit length. (A turn is
    scored by its best window; a request asks for all it says, so no window may stand for it alone.) A request whose
    vector is not finite goes to quarantine, and so has no dense scores. Identical texts are embedded once.
    """
    frame = pl.DataFrame(pl.from_arrow(requests.select([*REQUEST_KEY, "text"]))).sort(*REQUEST_KEY)
    keys = frame.select("request_id", "history_id")
    rows, windows = _embed_distinct(frame["text"], embedder)
    vectors = _unit_mean(rows, windows, len(keys))
    bad = _not_finite(vectors)
    columns = [*_columns(keys.filter(~bad)), _vector_column(vectors[~bad], embedder.dim)]
    table = pa.Table.from_arrays(columns, schema=request_vectors_schema(embedder.dim))
    return table, not_finite(keys.filter(bad), f"embedder {embedder.name}")


def unit_vectors(records: pa.Table, embedder: Embedder) -> tuple[pa.Table, pa.Table]:
    """One vector of each record (RECORDS): (schema unit_vectors(dim), QUARANTINE), sorted by history and leaf.

    What is read is the record's text, then its keywords, tags and description (FlexA-Mem, arXiv 2610.33274, section
    3.1: of the note s || f). A record whose vector is not finite goes to quarantine, and is like no other.
    """
    frame = pl.DataFrame(pl.from_arrow(records)).sort("history_id", "leaf")
    words = pl.concat_list("keywords", "tags").list.join(" ")
    texts = frame.select(pl.concat_str("text", words, "description", separator=" ")).to_series()
    rows, windows = _embed_distinct(texts, embedder)
    vectors = _unit_mean(rows, windows, len(frame))
    return _with_vectors(frame, vectors, unit_vectors_schema(embedder.dim), embedder)


def span_vectors(pieces: pa.Table, turns: pa.Table, embedder: Embedder) -> tuple[pa.Table, pa.Table]:
    """Vectors of spans of units: (schema span_vectors(dim), QUARANTINE), sorted by unit and place.

    A span takes the pieces (PIECES) of a unit one after the other until it has SPAN_TOKENS (150 in the baselines of
    FlexA-Mem, arXiv 2610.33274, appendix C). Who speaks stands before what a turn begins with.
    """
    said = pl.DataFrame(pl.from_arrow(turns.select([*TURN_KEY, "text"]))).with_columns(indexed=indexed_text(turns))
    begins = pl.col("start") == 0
    shown = (
        pl.DataFrame(pl.from_arrow(pieces.drop_columns(["terms"])))
        .sort(*UNIT_KEY, "piece_index")
        .join(said, on=list(TURN_KEY), how="left", maintain_order="left")
        .with_columns(before=pl.col("n_tokens").cum_sum().over(UNIT_KEY) - pl.col("n_tokens"))
        .with_columns(span=pl.col("before") // SPAN_TOKENS)
        .with_columns(speaker=pl.when(begins).then(pl.col("indexed").str.len_chars() - pl.col("text").str.len_chars()))
        .with_columns(
            part=pl.col("indexed").str.head(pl.col("speaker").fill_null(0))
            + pl.col("text").str.slice("start", pl.col("end") - pl.col("start"))
        )
    )
    spans = shown.group_by(*UNIT_KEY, "span", maintain_order=True).agg(
        pl.col("part").str.join("\n"), last_turn=pl.col("turn_index").last(), end=pl.col("end").last()
    )
    rows, windows = _embed_distinct(spans["part"], embedder)
    vectors = _unit_mean(rows, windows, len(spans))
    return _with_vectors(spans, vectors, span_vectors_schema(embedder.dim), embedder)


def _with_vectors(
    frame: pl.DataFrame, vectors: Vectors, schema: pa.Schema, embedder: Embedder
) -> tuple[pa.Table, pa.Table]:
    """The rows of `frame` as `schema` has them, their vectors last; and QUARANTINE of those that are not finite."""
    bad = _not_finite(vectors)
    kept = frame.filter(~bad).select(schema.names[:-1]).to_arrow().cast(pa.schema(list(schema)[:-1]))
    table = kept.append_column(schema.field("vector"), _vector_column(vectors[~bad], embedder.dim))
    lost = frame.filter(bad).select("history_id", "session_index")
    return table, not_finite(lost, f"embedder {embedder.name}")


def _embed_distinct(texts: pl.Series, embedder: Embedder) -> tuple[Positions, Vectors]:
    """As Embedder.embed_windows(texts), with each distinct text embedded once."""
    if texts.is_empty():
        return np.zeros(0, np.int64), np.zeros((0, embedder.dim), np.float32)
    distinct = texts.unique(maintain_order=True)
    rows, vectors = embedder.embed_windows(distinct.to_list())
    first = np.searchsorted(rows, np.arange(len(distinct) + 1))
    text_of = pl.DataFrame({"text": texts}).join(
        pl.DataFrame({"text": distinct}).with_row_index("position"), on="text", how="left", maintain_order="left"
    )
    position = text_of["position"].to_numpy().astype(np.int64)
    count = (first[1:] - first[:-1])[position]
    start = np.repeat(first[position] - np.concatenate([[0], np.cumsum(count)[:-1]]), count)
    return np.repeat(np.arange(len(texts)), count), vectors[start + np.arange(len(start))]


def _not_finite(vectors: Vectors) -> npt.NDArray[np.bool_]:
    return np.asarray(~np.isfinite(vectors).all(axis=1))


def _unit_mean(rows: Positions, windows: Vectors, n: int) -> Vectors:
    """Mean of the windows of each row, of unit length; a row of one window keeps it as it is, of none gets NaN."""
    count = np.bincount(rows, minlength=n)
    means = np.zeros((n, windows.shape[1]), np.float32)
    np.add.at(means, rows, windows)
    means[count == 0] = np.nan
    with np.errstate(invalid="ignore", divide="ignore"):
        means[count > 1] /= np.linalg.norm(means[count > 1], axis=1, keepdims=True)
    return means


def _columns(keys: pl.DataFrame) -> Sequence[pa.Array]:
    return [column.combine_chunks() for column in keys.to_arrow().columns]


def _vector_column(vectors: Vectors, dim: int) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.astype(np.float16).reshape(-1)), dim)

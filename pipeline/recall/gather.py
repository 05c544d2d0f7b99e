"""From the tables of a bucket to one history at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from models.interfaces import TokenEncoder
from pipeline.recall.analyzer import analyze
from pipeline.recall.history import Halves, History, Ints, Lists, Request, RequestTokens, Windows, matrix
from pipeline.recall.indexed_text import indexed_text
from pipeline.recall.late.codes import Codes, encode
from pipeline.recall.late.options import Code
from pipeline.recall.late.turn_codes import CodeSource, FreshCodes, StoredCodes, StoredTurns
from pipeline.schemas import REQUEST_KEY, TEXT, TURN_KEY

UNKNOWN_TERM = -1
"""Code of a request's term that no turn has."""


@dataclass(frozen=True)
class LateTables:
    """What late interaction reads of one encoder: the tokens of the requests, and the codes of turns or their maker.

    Exactly one of `turn_tokens` and `encoder` is there; `code` says how the encoder's vectors are coded.
    """

    request_tokens: pa.Table
    turn_tokens: StoredTurns | None = None
    encoder: TokenEncoder | None = None
    code: Code = "int8"


def histories(
    requests: pa.Table,
    turns: pa.Table,
    terms: pa.Table,
    turn_vectors: pa.Table | None,
    request_vectors: pa.Table | None,
    late: Mapping[str, LateTables],
) -> Iterator[tuple[History, list[Request]]]:
    """Each history that has both turns and requests, by history_id, with its requests by request_id.

    Tables have the schemas of pipeline.schemas, rows in any order; those of turns may hold several batches. A turn
    without terms or vectors (a stage put it into quarantine) is there without them. Beyond the tables and one copy of
    their vectors, memory is that of one history. Raises ValueError when a turn is there twice.
    """
    asked = pl.DataFrame(pl.from_arrow(requests)).sort(*REQUEST_KEY)
    stored = _turns_with_terms(turns, terms, asked["history_id"])
    token_rows = {name: _TokenRows(asked, tables.request_tokens) for name, tables in late.items()}
    turn_terms, request_terms, *token_terms = _coded(
        stored["terms"], [analyze(asked["text"]), *(rows.terms for rows in token_rows.values())]
    )
    terms_of_tokens = dict(zip(token_rows, token_terms, strict=True))
    request_vector = _request_vectors(asked, request_vectors)
    codes = {name: _CodeTable(tables, turns, stored) for name, tables in late.items()}
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
            codes={name: table.of_turns(history_id, block, start) for name, table in codes.items()},
        )
        first, last = requests_of[history_id]
        bounds = asked[first:last].select(
            "request_id", pl.col("asked_at").dt.replace_time_zone(None), "seen_session", "seen_turn"
        )
        yield (
            history,
            [
                Request(
                    *(row[0], np.datetime64(row[1], "us"), row[2], row[3], request_terms[k], request_vector[k]),
                    tokens={name: rows.of_request(k, terms_of_tokens[name]) for name, rows in token_rows.items()},
                )
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


def _coded(turn_terms: pl.Series, others: Sequence[pl.Series]) -> list[Lists]:
    """Terms of turns and of others as codes: equal codes where terms are equal, UNKNOWN_TERM for what no turn has."""
    encoded = _large_lists(turn_terms).flatten().dictionary_encode()
    coded = [Lists(encoded.indices.to_numpy().astype(np.int64), _offsets(turn_terms))]
    for terms in others:
        codes = pc.index_in(_large_lists(terms).flatten(), value_set=encoded.dictionary).fill_null(UNKNOWN_TERM)
        coded.append(Lists(codes.to_numpy().astype(np.int64), _offsets(terms)))
    return coded


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
        self._vectors = matrix(turn_vectors["vector"])

    def of_turns(self, start: int, stop: int) -> Windows:
        first, last = np.searchsorted(self._row, [start, stop])
        return Windows(self._vectors[self._source[first:last]], self._row[first:last] - start)


def _request_vectors(asked: pl.DataFrame, request_vectors: pa.Table | None) -> list[Halves | None]:
    """The vector of each request, None where there is none."""
    if request_vectors is None:
        return [None] * len(asked)
    vectors = matrix(request_vectors["vector"])
    located = pl.DataFrame(pl.from_arrow(request_vectors.select(list(REQUEST_KEY)))).with_row_index("source")
    source = asked.select(REQUEST_KEY).join(
        located, on=list(REQUEST_KEY), how="left", maintain_order="left", validate="1:1"
    )["source"]
    return [None if row is None else vectors[row] for row in source]


class _TokenRows:
    """The tokens of the requests of a bucket, in order of request and place."""

    def __init__(self, asked: pl.DataFrame, request_tokens: pa.Table) -> None:
        located = (
            pl.DataFrame(pl.from_arrow(request_tokens.select([*REQUEST_KEY, "position", "terms"])))
            .with_row_index("source")
            .join(asked.select(REQUEST_KEY).with_row_index("request"), on=list(REQUEST_KEY), how="inner")
            .sort("request", "position")
        )
        self.terms = located["terms"]
        self._first = np.searchsorted(located["request"].to_numpy(), np.arange(len(asked) + 1))
        self._codes = encode(matrix(request_tokens["vector"])[located["source"].to_numpy()].astype(np.float32))

    def of_request(self, request: int, terms: Lists) -> RequestTokens:
        first, last = int(self._first[request]), int(self._first[request + 1])
        values, scales = self._codes
        return RequestTokens(Codes(values[first:last], scales[first:last]), terms.slice(first, last))


class _CodeTable:
    """Where the codes of the turns of a bucket come from, history by history."""

    def __init__(self, tables: LateTables, turns: pa.Table, stored: pl.DataFrame) -> None:
        self._tables = tables
        self._texts: pl.Series | None = None
        if tables.turn_tokens is None:
            keys = pl.DataFrame(pl.from_arrow(turns.select(list(TURN_KEY)))).with_columns(text=indexed_text(turns))
            self._texts = stored.join(keys, on=list(TURN_KEY), how="left", maintain_order="left")["text"]

    def of_turns(self, history_id: str, block: pl.DataFrame, start: int) -> CodeSource:
        """Of a history whose turns are these, the first of them in row `start`."""
        tables = self._tables
        if tables.turn_tokens is not None:
            session, turn = (block[name].cast(pl.Int64).to_numpy() for name in TURN_KEY[1:])
            dim = tables.request_tokens.schema.field("vector").type.list_size
            return StoredCodes(tables.turn_tokens, history_id, session, turn, dim)
        assert self._texts is not None
        assert tables.encoder is not None
        texts = self._texts[start : start + len(block)].to_list()
        return FreshCodes(texts, tables.encoder.of_history(history_id), tables.code)

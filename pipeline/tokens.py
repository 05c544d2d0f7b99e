"""Stages `turn_tokens` and `request_tokens`: what a token encoder makes of turns and of requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from models.interfaces import TokenEncoder, TokenVectors
from pipeline import schemas
from pipeline.quarantined import not_finite
from pipeline.recall.analyzer import analyze_words
from pipeline.recall.indexed_text import indexed_text
from pipeline.recall.late.options import Code
from pipeline.recall.late.turn_codes import TurnCodes, encode_turns, text_blocks
from pipeline.recall.late.words import UNSPACED, words_of_tokens
from pipeline.schemas import REQUEST_KEY, TURN_KEY

REQUEST_TOKENS = 256
"""Tokens of a request that are kept, the first: a longer one asks for the matches of a whole page."""


def turn_tokens(turns: pa.Table, encoder: TokenEncoder, code: Code) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Codes of each turn's tokens, of its indexed text: (TURN_TOKENS, QUARANTINE), in parts, sorted by turn key.

    A turn with a vector that is not finite goes to quarantine, and late interaction does not score it.
    """
    keys = pl.DataFrame(pl.from_arrow(turns.select(list(TURN_KEY))))
    order = keys.select(pl.arg_sort_by(*TURN_KEY)).to_series()
    keys, texts = keys[order], indexed_text(turns)[order]
    for start, stop, reader in _blocks(texts, keys["history_id"], encoder):
        made, bad = encode_turns(texts[start:stop].to_list(), reader, code)
        table = _coded(keys[start:stop], made).filter(pa.array(~bad))
        yield table, not_finite(keys[start:stop].filter(pl.Series(bad)), f"token encoder {encoder.name}")


def request_tokens(requests: pa.Table, encoder: TokenEncoder) -> tuple[pa.Table, pa.Table]:
    """The tokens of each request's text: (schema request_tokens(dim), QUARANTINE), sorted by request and position.

    The first 256 are kept. A request with a vector that is not finite goes to quarantine, and has no late scores.
    """
    frame = pl.DataFrame(pl.from_arrow(requests.select([*REQUEST_KEY, "text"]))).sort(*REQUEST_KEY)
    made = _encoded(frame["text"], frame["history_id"], encoder)
    words = words_of_tokens(frame["text"].to_list(), made.text, made.start, made.end)
    finite = np.isfinite(made.vectors).all(axis=1)
    tokens = pl.DataFrame({"row": made.text, "word": pl.Series(words, dtype=pl.String), "finite": finite})
    tokens = tokens.with_columns(
        source=pl.int_range(pl.len(), dtype=pl.Int64),
        position=pl.int_range(pl.len(), dtype=pl.Int32).over("row"),
        terms=_terms_of_words(frame["text"], tokens["word"], tokens["row"]),
    )
    broken = tokens.filter(~pl.col("finite"))["row"].unique()
    kept = tokens.filter((pl.col("position") < REQUEST_TOKENS) & ~pl.col("row").is_in(broken.implode()))
    keys = frame.select("request_id", "history_id")
    columns = keys[kept["row"]].with_columns(kept["position"], kept["terms"]).to_arrow()
    vectors = made.vectors[kept["source"].to_numpy()].astype(np.float16)
    schema = schemas.request_tokens(encoder.dim)
    table = columns.append_column(
        "vector", pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), encoder.dim)
    )
    return table.cast(schema), not_finite(keys[broken.sort()], f"token encoder {encoder.name}")


def _blocks(texts: pl.Series, history_ids: pl.Series, encoder: TokenEncoder) -> Iterator[tuple[int, int, TokenEncoder]]:
    """Rows that follow each other and are read by one encoder: first, last (excluded), and which."""
    lengths = texts.str.len_chars().to_list()
    runs = history_ids.rle().struct.unnest()
    start = stop = 0
    reader: TokenEncoder | None = None
    for history_id, length in runs.select("value", "len").iter_rows():
        following = encoder.of_history(history_id)
        if reader is not None and following is not reader:
            yield from _cut(lengths, start, stop, reader)
            start = stop
        reader, stop = following, stop + length
    if reader is not None:
        yield from _cut(lengths, start, stop, reader)


def _cut(lengths: list[int], start: int, stop: int, reader: TokenEncoder) -> Iterator[tuple[int, int, TokenEncoder]]:
    for first, last in text_blocks(lengths[start:stop]):
        yield start + first, start + last, reader


def _encoded(texts: pl.Series, history_ids: pl.Series, encoder: TokenEncoder) -> TokenVectors:
    """Token vectors of requests, each read by the encoder of its history."""
    made = [
        (start, reader.encode(texts[start:stop].to_list(), "query"))
        for start, stop, reader in _blocks(texts, history_ids, encoder)
    ]
    if not made:
        return encoder.encode([], "query")
    return TokenVectors(
        np.concatenate([vectors.text + start for start, vectors in made]),
        np.concatenate([vectors.start for _, vectors in made]),
        np.concatenate([vectors.end for _, vectors in made]),
        np.concatenate([vectors.vectors for _, vectors in made]),
    )


def _terms_of_words(texts: pl.Series, words: pl.Series, text_of_word: pl.Series) -> pl.Series:
    """The terms of the word of each token, any of which stands for it: a stem of one language or another.

    Of a script that is written without spaces pairs alone, where there are any: each character by itself is commoner
    than what the token says.
    """
    terms = pl.DataFrame({"terms": analyze_words(texts, words, text_of_word), "paired": words.str.contains(UNSPACED)})
    pairs = pl.col("terms").list.eval(pl.element().filter(pl.element().str.len_chars() > 1))
    has_pairs = pl.col("paired") & (pairs.list.len() > 0)
    return terms.select(pl.when(has_pairs).then(pairs).otherwise(pl.col("terms")).alias("terms")).to_series()


def _coded(keys: pl.DataFrame, made: TurnCodes) -> pa.Table:
    """Rows of TURN_TOKENS from codes."""
    dim = made.codes.values.shape[1]
    ends = pa.py_buffer(made.offsets * dim)
    columns: Sequence[pa.Array] = [
        *(column.combine_chunks() for column in keys.to_arrow().columns),
        pa.LargeListArray.from_arrays(pa.array(made.offsets), pa.array(made.codes.scales)),
        pa.LargeBinaryArray.from_buffers(
            pa.large_binary(), len(keys), [None, ends, pa.py_buffer(np.ascontiguousarray(made.codes.values))]
        ),
    ]
    return pa.table(columns, names=schemas.TURN_TOKENS.names).cast(schemas.TURN_TOKENS)

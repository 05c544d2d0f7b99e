"""The codes of turns: what late interaction reads of a history, stored or made where they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from models.interfaces import TokenEncoder
from pipeline.recall.late.codes import Codes, encode
from pipeline.recall.late.options import POOL_FACTOR, Code
from pipeline.recall.late.pooling import pooled
from pipeline.schemas import TURN_KEY

Ints = npt.NDArray[np.int64]


class TurnCodes(NamedTuple):
    """Codes of some turns: those of turn k are `codes[offsets[k]:offsets[k + 1]]`."""

    codes: Codes
    offsets: Ints


class CodeSource(Protocol):
    """Where the codes of one history come from."""

    def of_turns(self, turns: Ints) -> TurnCodes:
        """The codes of the turns at these places of the history; a turn without any has none."""
        ...


def encode_turns(texts: Sequence[str], encoder: TokenEncoder, code: Code) -> tuple[TurnCodes, npt.NDArray[np.bool_]]:
    """Codes of texts, and which of them got a vector that is not finite: those have no codes.

    Identical texts are encoded once.
    """
    if not len(texts):
        return TurnCodes(encode(np.zeros((0, encoder.dim), np.float32)), np.zeros(1, np.int64)), np.zeros(0, np.bool_)
    distinct = list(dict.fromkeys(texts))
    made = encoder.encode(distinct, "document")
    bounds = np.searchsorted(made.text, np.arange(len(distinct) + 1))
    whole = np.bincount(made.text[~np.isfinite(made.vectors).all(axis=1)], minlength=len(distinct)) == 0
    of_text = []
    for start, stop, finite in zip(bounds[:-1], bounds[1:], whole, strict=True):
        vectors = made.vectors[start : stop if finite else start]
        of_text.append(encode(pooled(vectors, POOL_FACTOR) if code == "pooled" else vectors))
    place = {text: index for index, text in enumerate(distinct)}
    places = [place[text] for text in texts]
    return together([of_text[index] for index in places]), ~whole[places]


def together(of_turns: Sequence[Codes]) -> TurnCodes:
    """Codes of several turns as one."""
    values, scales = zip(*of_turns, strict=True)
    lengths = [len(each) for each in scales]
    return TurnCodes(
        Codes(np.concatenate(values), np.concatenate(scales)),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


class StoredCodes:
    """Codes from the table `turn_tokens`, found by the rows of a bucket's turns; nothing is copied until asked for."""

    def __init__(self, turn_tokens: pa.Table, stored: pl.DataFrame) -> None:
        keys = pl.DataFrame(pl.from_arrow(turn_tokens.select(list(TURN_KEY)))).with_row_index("source")
        located = keys.join(stored.select(*TURN_KEY, "row"), on=list(TURN_KEY), how="inner")
        self._source = np.full(stored.height, -1, np.int64)
        self._source[located["row"].to_numpy()] = located["source"].to_numpy()
        scales, vectors = (turn_tokens[name].combine_chunks() for name in ("scales", "vectors"))
        self._offsets = scales.offsets.to_numpy()
        self._scales = scales.values.to_numpy()
        inner = vectors.values
        self._values = inner.values.to_numpy().reshape(-1, inner.type.list_size)

    def of_history(self, start: int) -> _OfHistory:
        """The codes of the history whose first turn is at this row."""
        return _OfHistory(self, start)

    def of_rows(self, rows: Ints) -> TurnCodes:
        """Codes of the turns at these rows of the bucket."""
        source = self._source[rows]
        first = np.where(source >= 0, self._offsets[source], 0)
        count = np.where(source >= 0, self._offsets[source + 1] - first, 0)
        offsets = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        taken = np.repeat(first - offsets[:-1], count) + np.arange(offsets[-1])
        return TurnCodes(Codes(self._values[taken], self._scales[taken]), offsets)


class _OfHistory:
    """CodeSource of one history of a bucket."""

    def __init__(self, stored: StoredCodes, start: int) -> None:
        self._stored = stored
        self._start = start

    def of_turns(self, turns: Ints) -> TurnCodes:
        """As CodeSource."""
        return self._stored.of_rows(turns + self._start)


class FreshCodes:
    """CodeSource that encodes turns when they are first asked for, and keeps the newest of them."""

    def __init__(self, texts: Sequence[str], encoder: TokenEncoder, code: Code, kept: int = 4096) -> None:
        self._texts = texts
        self._encoder = encoder
        self._code = code
        self._kept = kept
        self._known: dict[int, Codes] = {}

    def of_turns(self, turns: Ints) -> TurnCodes:
        """As CodeSource."""
        wanted = turns.tolist()
        missing = [turn for turn in wanted if turn not in self._known]
        made, _ = encode_turns([self._texts[turn] for turn in missing], self._encoder, self._code)
        for turn, start, stop in zip(missing, made.offsets[:-1], made.offsets[1:], strict=True):
            self._known[turn] = Codes(made.codes.values[start:stop], made.codes.scales[start:stop])
        if not wanted:
            return made
        found = together([self._known[turn] for turn in wanted])
        for turn in list(self._known)[: max(0, len(self._known) - self._kept)]:
            del self._known[turn]
        return found

"""The codes of turns: what late interaction reads of a history, stored or made where they are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from models.interfaces import TokenEncoder
from pipeline.recall.late.codes import Codes, encode
from pipeline.recall.late.options import POOL_FACTOR, Code
from pipeline.recall.late.pooling import pooled

BLOCK_TEXTS = 1024
BLOCK_CHARACTERS = 1 << 18
"""Texts, and characters of them, that are encoded at a time: bounds the memory of vectors that have no codes yet (about
100 MB of 384 dimensions)."""

KEPT_TOKENS = 1 << 18
"""Codes that FreshCodes keeps of turns that it has encoded: 100 MB of 384 dimensions."""

Ints = npt.NDArray[np.int64]


class TurnCodes(NamedTuple):
    """Codes of some turns: those of turn k are `codes[offsets[k]:offsets[k + 1]]`."""

    codes: Codes
    offsets: Ints

    def take(self, turns: Ints) -> TurnCodes:
        """The codes of some of the turns, in the order given."""
        first = self.offsets[turns]
        count = self.offsets[turns + 1] - first
        offsets = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        taken = np.repeat(first - offsets[:-1], count) + np.arange(offsets[-1])
        return TurnCodes(Codes(self.codes.values[taken], self.codes.scales[taken]), offsets)


class CodeSource(Protocol):
    """Where the codes of one history come from."""

    def parts(self, turns: Ints) -> Iterator[tuple[Ints, TurnCodes]]:
        """The codes of the turns at these places of the history, which ascend; some turns at a time, with their places.

        A turn is in one part at most, and one without codes may be in none.
        """
        ...

    @property
    def broken(self) -> Ints:
        """The places of turns that were found to have a vector that is not finite since, ascending: they have no codes.

        Those of turns that were put aside when codes were stored are not among them.
        """
        ...


class StoredTurns(Protocol):
    """The table TURN_TOKENS, of which no more is read than is asked for."""

    def of_history(self, history_id: str) -> Iterator[pa.Table]:
        """The rows of one history, some at a time."""
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


def text_blocks(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Texts of these lengths, cut into blocks to encode: the first of each, and the last (excluded)."""
    upto = np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))])
    start = 0
    while start < len(lengths):
        fitting = int(np.searchsorted(upto, upto[start] + BLOCK_CHARACTERS, side="right")) - 1
        stop = min(max(fitting, start + 1), start + BLOCK_TEXTS, len(lengths))
        yield start, stop
        start = stop


class StoredCodes:
    """CodeSource of one history over the table TURN_TOKENS; holds none of them."""

    def __init__(self, stored: StoredTurns, history_id: str, session_index: Ints, turn_index: Ints, dim: int) -> None:
        self._stored = stored
        self._history_id = history_id
        self._sessions = np.unique(session_index)
        self._width = int(turn_index.max(initial=0)) + 1
        self._keys = np.searchsorted(self._sessions, session_index) * self._width + turn_index
        self._dim = dim

    def parts(self, turns: Ints) -> Iterator[tuple[Ints, TurnCodes]]:
        """As CodeSource."""
        wanted = np.zeros(len(self._keys) + 1, np.bool_)
        wanted[turns] = True
        for table in self._stored.of_history(self._history_id):
            place = self._places(table)
            rows = np.flatnonzero(wanted[place])
            if len(rows):
                yield place[rows], _codes_of(table.take(rows), self._dim)

    @property
    def broken(self) -> Ints:
        """As CodeSource."""
        return np.zeros(0, np.int64)

    def _places(self, table: pa.Table) -> Ints:
        """The place in the history of each row's turn, -1 of a turn that the history does not have."""
        session, turn = (table[name].to_numpy().astype(np.int64) for name in ("session_index", "turn_index"))
        at = np.minimum(np.searchsorted(self._sessions, session), len(self._sessions) - 1)
        known = (self._sessions[at] == session) & (turn < self._width)
        key = at * self._width + turn
        place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return np.where(known & (self._keys[place] == key), place, -1)


def _codes_of(table: pa.Table, dim: int) -> TurnCodes:
    """The codes in rows of TURN_TOKENS."""
    scales, codes = (table[name].combine_chunks() for name in ("scales", "codes"))
    _, ends, data = codes.buffers()
    first, last = np.frombuffer(ends, np.int64)[[codes.offset, codes.offset + len(codes)]]
    values = np.frombuffer(data, np.int8)[first:last] if first < last else np.zeros(0, np.int8)
    offsets = scales.offsets.to_numpy()
    return TurnCodes(Codes(values.reshape(-1, dim), scales.flatten().to_numpy()), offsets - offsets[0])


class FreshCodes:
    """CodeSource that encodes turns when they are first asked for, and keeps the codes of the newest of them."""

    def __init__(self, texts: Sequence[str], encoder: TokenEncoder, code: Code, kept: int = KEPT_TOKENS) -> None:
        self._texts = texts
        self._encoder = encoder
        self._code = code
        self._kept = kept
        self._known: dict[int, Codes] = {}
        self._broken: set[int] = set()
        self._n_tokens = 0

    def parts(self, turns: Ints) -> Iterator[tuple[Ints, TurnCodes]]:
        """As CodeSource."""
        for start, stop in text_blocks([len(self._texts[turn]) for turn in turns.tolist()]):
            block = turns[start:stop]
            self._learn([turn for turn in block.tolist() if turn not in self._known])
            yield block, together([self._known[turn] for turn in block.tolist()])
            self._forget()

    @property
    def broken(self) -> Ints:
        """As CodeSource."""
        return np.array(sorted(self._broken), np.int64)

    def _learn(self, missing: Sequence[int]) -> None:
        made, bad = encode_turns([self._texts[turn] for turn in missing], self._encoder, self._code)
        self._broken.update(turn for turn, is_bad in zip(missing, bad.tolist(), strict=True) if is_bad)
        for turn, start, stop in zip(missing, made.offsets[:-1], made.offsets[1:], strict=True):
            # Copies: a part of an array would keep all of it.
            self._known[turn] = Codes(made.codes.values[start:stop].copy(), made.codes.scales[start:stop].copy())
            self._n_tokens += int(stop - start)

    def _forget(self) -> None:
        while self._n_tokens > self._kept:
            oldest = next(iter(self._known))
            self._n_tokens -= len(self._known.pop(oldest).scales)

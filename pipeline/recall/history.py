"""One history with what is stored of its turns, and one request over it: what channels read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipeline.recall.late.codes import Codes
from pipeline.recall.late.turn_codes import CodeSource

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Halves = npt.NDArray[np.float16]
Times = npt.NDArray[np.datetime64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Lists:
    """Lists of integers, one a row: list i is `values[offsets[i]:offsets[i + 1]]`."""

    values: Ints
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> Ints:
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def slice(self, start: int, stop: int) -> Lists:
        """Lists start to stop, as Lists of their own."""
        offsets = self.offsets[start : stop + 1]
        return Lists(self.values[offsets[0] : offsets[-1]], offsets - offsets[0])


@dataclass(frozen=True)
class Windows:
    """Vectors of turns, shape (windows, dim), and for each the position of its turn in the history, ascending."""

    vectors: Halves
    turn: Ints


class Scored(NamedTuple):
    """What a channel makes of the visible turns for one request, in their order, each of shape (visible turns,).

    `scores` (NaN: none), and which of the turns it has `recalled`: its ranking holds these alone.
    """

    scores: Floats
    recalled: Mask


@dataclass(frozen=True)
class History:
    """One history's turns in (session_index, turn_index) order.

    `session_time` is UTC, NaT where it is unknown. `terms` holds the codes of each turn's terms: equal codes are equal
    terms, and a code says nothing else. `windows` is None where the profile uses no vectors. `codes` has, for each
    encoder of late interaction, where the codes of the turns' tokens come from.
    """

    history_id: str
    session_index: Ints
    turn_index: Ints
    session_time: Times
    terms: Lists
    windows: Windows | None
    codes: Mapping[str, CodeSource] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.session_index)


class RequestTokens(NamedTuple):
    """The tokens of a request: their codes, and for each the terms of its word, as codes in History.

    A word that is left out of the index (a stop word, punctuation) has no term.
    """

    codes: Codes
    terms: Lists


@dataclass(frozen=True)
class Request:
    """One request: what bounds its view, and what it asks in the form that each channel reads.

    `asked_at` is UTC, NaT where absent; `terms` are codes as in History; `vector` is None where there is none; `tokens`
    has those of each encoder of late interaction that could read the request.
    """

    request_id: str
    asked_at: np.datetime64
    seen_session: int | None
    seen_turn: int | None
    terms: Ints
    vector: Halves | None
    tokens: Mapping[str, RequestTokens] = field(default_factory=dict)


def matrix(column: pa.ChunkedArray) -> Halves:
    """A column of vectors of one length as a matrix, shape (rows, dim)."""
    dim = column.type.list_size
    if len(column) == 0:
        return np.zeros((0, dim), np.float16)
    values = [chunk.flatten().to_numpy() for chunk in column.chunks]
    return np.concatenate(values).reshape(-1, dim)

"""Pairs of a request and a turn as windows of word pieces, made one by one: a shard has more than fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from models.windows import Ids, WindowSizes

BLOCK = 1024
"""Texts that are tokenised at a time: bounds the memory of word pieces as Python's numbers."""

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pieces:
    """The word pieces of texts, without special ones: those of text k are `ids[start[k] : start[k] + lengths[k]]`."""

    ids: npt.NDArray[np.int32]
    start: Positions
    lengths: Positions


def pieces_of(tokenizer: Any, texts: Sequence[str]) -> Pieces:
    """The word pieces of every text, whole."""
    parts, lengths = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    for first in range(0, len(texts), BLOCK):
        made = tokenizer(
            list(texts[first : first + BLOCK]),
            add_special_tokens=False,
            truncation=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,  # that a text is longer than a window is expected
        )["input_ids"]
        lengths.append(np.array([len(ids) for ids in made], np.int64))
        parts.append(np.array([piece for ids in made for piece in ids], np.int32))
    of_text = np.concatenate(lengths)
    return Pieces(np.concatenate(parts), np.cumsum(of_text) - of_text, of_text)


@dataclass(frozen=True)
class Frame:
    """The special word pieces before, between and after the two texts of a pair.

    `types` are the token types of the five parts' pieces: before, request, between, turn, after.
    """

    before: Ids
    between: Ids
    after: Ids
    types: tuple[Ids, Ids, Ids, Ids, Ids]

    @property
    def length(self) -> int:
        """Special word pieces in all."""
        return len(self.before) + len(self.between) + len(self.after)


def frame_of(tokenizer: Any) -> Frame:
    """What a (fast) tokenizer puts around two texts, seen in a pair of its own."""
    seen = tokenizer("a", "a", return_token_type_ids=True)
    sides = seen.sequence_ids(0)
    ids, types = np.asarray(seen["input_ids"], np.int64), np.asarray(seen["token_type_ids"], np.int64)
    request, turn = sides.index(0), sides.index(1)
    after_request, after_turn = request + sides.count(0), turn + sides.count(1)
    return Frame(
        before=ids[:request],
        between=ids[after_request:turn],
        after=ids[after_turn:],
        types=(
            types[:request],
            types[request : request + 1],
            types[after_request:turn],
            types[turn : turn + 1],
            types[after_turn:],
        ),
    )


class PairWindows:
    """Every window of every pair, in order of pair and place: a window is a request, and a part of a turn.

    `lengths` are their word pieces, special ones included; the windows of pair k begin at number `first[k]`.
    """

    def __init__(
        self, requests: Pieces, turns: Pieces, pairs: npt.NDArray[np.int64], frame: Frame, sizes: WindowSizes
    ) -> None:
        """`pairs` as in models.interfaces.PairScorer, of at least one pair."""
        self._requests, self._turns, self._frame = requests, turns, frame
        room = sizes.max_tokens - frame.length
        asked = np.minimum(requests.lengths, room // 2)[pairs[:, 0]]
        told, size = turns.lengths[pairs[:, 1]], room - asked
        step = size - sizes.overlap
        count = 1 + -(-np.maximum(told - size, 0) // step)
        self.first: Positions = np.cumsum(count) - count
        pair = np.repeat(np.arange(len(pairs)), count)
        offset = (np.arange(len(pair)) - self.first[pair]) * step[pair]
        self._n_asked, self._n_told = asked[pair], np.minimum(size[pair], told[pair] - offset)
        self._asked_from = requests.start[pairs[pair, 0]]
        self._told_from = turns.start[pairs[pair, 1]] + offset
        self.lengths: Positions = self._n_asked + self._n_told + frame.length

    def ids(self, number: int) -> Ids:
        """The word pieces of a window."""
        asked, told = self._asked_from[number], self._told_from[number]
        return np.concatenate(
            [
                self._frame.before,
                self._requests.ids[asked : asked + self._n_asked[number]],
                self._frame.between,
                self._turns.ids[told : told + self._n_told[number]],
                self._frame.after,
            ]
        )

    def types(self, number: int) -> Ids:
        """The token types of a window's word pieces."""
        before, request, between, turn, after = self._frame.types
        asked, told = np.repeat(request, self._n_asked[number]), np.repeat(turn, self._n_told[number])
        return np.concatenate([before, asked, between, told, after])

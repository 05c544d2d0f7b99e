"""A token encoder that needs no model: a token a word, and a vector of fixed random direction for each word."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from models.interfaces import TokenVectors


class WordTokenEncoder:
    """The word `nan` has a vector that is not finite. Remembers which texts it read."""

    name = "words"

    def __init__(self, dim: int = 16, salt: str = "") -> None:
        self.dim = dim
        self.read: list[str] = []
        self._salt = salt

    def of_history(self, _: str) -> WordTokenEncoder:
        return self

    def encode(self, texts: Sequence[str], task: Literal["query", "document"]) -> TokenVectors:
        self.read += texts
        found = [(row, word) for row, text in enumerate(texts) for word in re.finditer(r"\w+|[^\w\s]", text)]
        vectors = [self.vector(word.group()) for _, word in found]
        return TokenVectors(
            np.array([row for row, _ in found], np.int64),
            np.array([word.start() for _, word in found], np.int64),
            np.array([word.end() for _, word in found], np.int64),
            np.array(vectors, np.float32).reshape(-1, self.dim),
        )

    def vector(self, word: str) -> npt.NDArray[np.float32]:
        """Of unit length."""
        if word == "nan":
            return np.full(self.dim, np.nan, np.float32)
        seed = int.from_bytes(hashlib.sha256((self._salt + word).encode()).digest()[:4])
        drawn = np.random.default_rng(seed).normal(size=self.dim)
        return (drawn / np.linalg.norm(drawn)).astype(np.float32)


class FoldedTokenEncoder(WordTokenEncoder):
    """Reads each history by an encoder of its own, as one that was tuned crosswise does."""

    def __init__(self, dim: int = 16, salt: str = "") -> None:
        super().__init__(dim, salt)
        self.of: dict[str, WordTokenEncoder] = {}

    def of_history(self, history_id: str) -> WordTokenEncoder:
        return self.of.setdefault(history_id, WordTokenEncoder(self.dim, salt=self._salt + history_id))


class InParts:
    """The table TURN_TOKENS in memory, handed out some rows at a time."""

    def __init__(self, table: pa.Table, rows: int) -> None:
        self._table = table
        self._rows = rows

    def of_history(self, history_id: str) -> Iterator[pa.Table]:
        own = self._table.filter(pc.equal(self._table["history_id"], history_id))
        return (own.slice(start, self._rows) for start in range(0, own.num_rows, self._rows))

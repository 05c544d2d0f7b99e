"""A counter that needs no model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class WordCounter:
    """One token a word."""

    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())

    def count_many(self, texts: Sequence[str]) -> npt.NDArray[np.int32]:
        return np.array([self.count(text) for text in texts], np.int32)

"""Which word each token of a request belongs to: what the token weighs is the word's idf."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import regex

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*")
UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
"""A character of a script that is written without spaces."""
_UNSPACED = regex.compile(UNSPACED)

Positions = npt.NDArray[np.int64]


def words_of_tokens(texts: Sequence[str], text: Positions, start: Positions, end: Positions) -> list[str]:
    """The word in which each token starts, empty where it starts in none (punctuation); as long as `text`.

    Token k covers characters start[k] to end[k] of texts[text[k]]; some tokenizers count the space before a word to it.
    A token of no characters (of a prompt) is in no word. A token of a script that is written without spaces is its own
    word: there a run of letters is a sentence.
    """
    spans = [[match.span() for match in _WORD.finditer(each)] for each in texts]
    starts = [[first for first, _ in of_text] for of_text in spans]
    words = []
    for row, first, last in zip(text.tolist(), start.tolist(), end.tolist(), strict=True):
        token = texts[row][first:last].lstrip()
        at = bisect_right(starts[row], last - len(token)) - 1
        inside = bool(token) and at >= 0 and last - len(token) < spans[row][at][1]
        if not inside or _UNSPACED.search(token):
            words.append(token if inside else "")
        else:
            words.append(texts[row][slice(*spans[row][at])])
    return words

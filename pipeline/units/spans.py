"""Consecutive spans of a text, none of more than so many tokens, cut at line breaks where that can be done."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from models.interfaces import TokenCounter

_LINES = re.compile(r"(?<=\n)(?=.)", re.DOTALL)
_WORDS = re.compile(r"(?<=\S)(?=[^\S\n]+\S)")
"""Before the blanks between two words: o200k counts a blank with the word after it."""


class Span(NamedTuple):
    """Characters start to end (exclusive) of a text, and the tokens of them alone."""

    start: int
    end: int
    n_tokens: int


def spans_within(text: str, limit: int, counter: TokenCounter) -> list[Span]:
    """Spans of at most `limit` tokens that follow each other and together are the text; none for an empty text.

    Each takes as many whole lines as fit. A line that is longer is cut between words, a word that is longer between
    characters; a single character of more tokens than `limit` is a span all the same. Raises ValueError for a limit
    below 1.
    """
    if limit < 1:
        raise ValueError(f"spans of at most {limit} tokens cannot be made")
    return _packed(text, [0, *_borders(text, limit, counter), len(text)], limit, counter) if text else []


def _borders(text: str, limit: int, counter: TokenCounter) -> list[int]:
    """Places to cut at, ascending, without the ends: line breaks, and within lines of more than `limit` tokens more."""
    found: list[int] = []
    lines = list(pairwise([0, *(match.start() for match in _LINES.finditer(text)), len(text)]))
    for (start, end), count in zip(lines, _counts(text, lines, counter), strict=True):
        found.append(start)
        if count > limit:
            words = list(pairwise([start, *(match.start() for match in _WORDS.finditer(text, start + 1, end)), end]))
            for (first, last), tokens in zip(words, _counts(text, words, counter), strict=True):
                found += range(first, last) if tokens > limit else [first]
    return sorted(set(found) - {0})


def _packed(text: str, borders: Sequence[int], limit: int, counter: TokenCounter) -> list[Span]:
    """Spans between borders, each with as many parts as fit."""
    parts = list(pairwise(borders))
    total = np.array([0, *accumulate(_counts(text, parts, counter))], np.int64)
    chosen = []
    first = 0
    while first < len(parts):
        # Tokens of a whole are hardly ever more than those of its parts (they may merge across a border).
        after = max(first + 1, int(np.searchsorted(total, total[first] + limit, "right")) - 1)
        count = counter.count(text[borders[first] : borders[after]])
        while count > limit and after > first + 1:
            after -= 1
            count = counter.count(text[borders[first] : borders[after]])
        chosen.append(Span(borders[first], borders[after], count))
        first = after
    return chosen


def _counts(text: str, parts: Sequence[tuple[int, int]], counter: TokenCounter) -> list[int]:
    counts: list[int] = counter.count_many([text[start:end] for start, end in parts]).tolist()
    return counts

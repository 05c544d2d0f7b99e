"""Answers in which a model repeats itself until it is stopped."""

from __future__ import annotations

_LEAST_WORDS = 16
"""A shorter text is no loop, whatever it repeats."""
_LONGEST_CYCLE = 24
"""Words of the longest span whose repetition is looked for."""
_TIMES = 4
"""A span that stands this often in a row is a loop; of a single word it takes twice as many."""
_SHARE = 1 / 3
"""The share of a text that the repetitions must take."""


def loops(text: str) -> bool:
    """Whether a text says one thing over and over: a span of words that is repeated in a row, anywhere in it, and takes
    a good part of all of it. Linear in the text, times the longest span looked for."""
    words = text.lower().split()
    if len(words) < _LEAST_WORDS:
        return False
    for cycle in range(1, min(_LONGEST_CYCLE, len(words) // 2) + 1):
        run = best = 0
        for place in range(cycle, len(words)):
            run = run + 1 if words[place] == words[place - cycle] else 0
            best = max(best, run)
        repeated = best + cycle
        times = 2 * _TIMES if cycle == 1 else _TIMES
        if repeated >= times * cycle and repeated >= _SHARE * len(words):
            return True
    return False

"""Answers in which a model repeats itself until it is stopped."""

from __future__ import annotations

import re

_LEAST = 100
"""Characters of repetition; less is a refrain, a rule of a table, or a short answer."""
_SHARE = 1 / 3
"""The share of a text that the repetition takes."""
_TIMES = 4
_TIMES_LONG = 3
_LONG = 150
"""Characters of a span of which three times in a row are enough; shorter ones take four."""

_NUMBERED = re.compile(r"^[ \t]*(?:\d+[.):]|[-*•])[ \t]+", re.MULTILINE)
_CLOSERS = "\"'`}])>*_ \n"
"""What may stand after the last repetition: an answer in JSON that was stopped is closed."""


def loops(text: str) -> bool:
    """Whether a text ends in one span over and over, the last of them perhaps cut, that takes a third of it or more.

    Case, white space and the numbers or marks of lists make no difference. Takes time in proportion to the text.
    """
    said = " ".join(_NUMBERED.sub("", text).lower().split()).rstrip(_CLOSERS)
    if len(said) < _LEAST:
        return False
    least = max(_LEAST, _SHARE * len(said))
    for period, matched in enumerate(_prefix_matches(said[::-1])):
        covered = period + matched + 1  # the space after the last of them is stripped
        if period and covered >= least and covered >= period * (_TIMES_LONG if period >= _LONG else _TIMES):
            return True
    return False


def _prefix_matches(text: str) -> list[int]:
    """For each place, how many characters from there on equal those from the beginning on: the Z-algorithm."""
    matches = [0] * len(text)
    left = right = 0
    for place in range(1, len(text)):
        matched = min(right - place, matches[place - left]) if place < right else 0
        while place + matched < len(text) and text[matched] == text[place + matched]:
            matched += 1
        matches[place] = matched
        if place + matched > right:
            left, right = place, place + matched
    return matches

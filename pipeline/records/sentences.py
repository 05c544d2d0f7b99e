"""Cutting a text into sentences, in any script, with their places in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_END = re.compile(
    r"[.!?…]{1,8}[\"'”’)\]*]{0,4}(?=\s)"  # a full stop and what closes with it
    r"|[。！？｡]{1,8}[」』”’）]{0,4}"  # scripts that put no space behind it
    r"|\s(?=\[)|\n"  # before a caption; at a line's end
)
_BEFORE_A_STOP = re.compile(
    r"(?:(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|approx|e\.g|i\.e|no|fig|(?-i:[A-HJ-Z]))|(?:^|\n) *\d{1,3})$",
    re.IGNORECASE,
)
"""What a full stop stands behind without ending a sentence: an abbreviation, an initial, the number of an item."""
_MARK = re.compile(r"[\s\-*•>#|=_~`]{1,40}|\d{1,3}[.)]\s")
"""Bullets, numbers and headings before what a line says."""
_LONGEST = 320
"""Characters: what is longer is cut where it may, as a text without full stops has one sentence."""
_PAUSES = (" ", ",", "，", "、")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and where it begins in its text."""

    start: int
    text: str


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text in order, each a verbatim part of at most 320 characters, without marks of lists."""
    return [found for start, end in _spans(text) if (found := _stripped(text, start, end)).text]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for stop in _END.finditer(text):
        if stop[0] == "." and _BEFORE_A_STOP.search(text, max(0, start - 1, stop.start() - 8), stop.start()):
            continue
        yield from _within(text, start, stop.end())
        start = stop.end()
    yield from _within(text, start, len(text))


def _within(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span, cut into parts of bounded length: at a pause where there is one."""
    while end - start > _LONGEST:
        pauses = (text.rfind(pause, start + _LONGEST // 2, start + _LONGEST - 1) for pause in _PAUSES)
        cut = next((place + 1 for place in pauses if place > 0), start + _LONGEST)
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _stripped(text: str, start: int, end: int) -> Sentence:
    while (mark := _MARK.match(text, start, end)) is not None:
        start = mark.end()
    return Sentence(start, text[start:end].rstrip())

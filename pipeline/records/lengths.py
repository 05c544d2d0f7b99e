"""How long a text is, counted in words whatever its script, and cutting it to fit."""

from __future__ import annotations

import re
from collections.abc import Sequence

ELLIPSIS = "…"
"""Stands, within or at the end of a word, for what was cut away there."""

_LONG = 16
"""Characters: a longer word (a path, a URL) is counted as several, as what it costs to read grows with it."""
_WIDE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Letters of the scripts that are written without spaces."""
_WIDE_PER_WORD = 2
_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f]")
_WORD = re.compile(r"\S+")


def one_line(text: str) -> str:
    """The text on one line, single-spaced, without control characters."""
    return " ".join(_CONTROL.sub("", text).split())


def length(text: str) -> int:
    """Words of a text: at least those between spaces; more of what is long, or in a script without spaces."""
    words = text.split()
    count = len(words)
    if words and max(map(len, words)) > _LONG:
        count += sum(max(0, len(word.rstrip(ELLIPSIS)) - 1) // _LONG for word in words)
    if text.isascii():
        return count
    return count + sum(len(_WIDE.findall(word)) // _WIDE_PER_WORD for word in words)


def clipped(text: str, words: int) -> str:
    """The beginning of a text, at most `words` long, with a mark where it is cut. Empty for no words."""
    if words <= 0:
        return ""
    if len(text) <= words or length(text) <= words:
        return text
    end = _reach(text, words)
    return text[:end].rstrip(" ,;:(-—–") + ELLIPSIS if end else text[: _characters(text, words)] + ELLIPSIS


def shortened(text: str, words: int) -> str:
    """A text of at most `words`, cut in the middle: its first words and its last."""
    if words < 4:
        return clipped(text, words)
    if length(text) <= words:
        return text
    head = clipped(text, words - words // 3).removesuffix(ELLIPSIS)
    rest = text[len(head) :].split()
    tail: list[str] = []
    left = words - length(head)
    for word in reversed(rest[-left:]):
        left -= length(word)
        if left < 0:
            break
        tail.append(word)
    return f"{head}{ELLIPSIS} {' '.join(reversed(tail))}" if tail else head + ELLIPSIS


def shares(needs: Sequence[int], total: int) -> list[int]:
    """How much of `total` each gets: what it needs where that is less than an even share, the rest is shared evenly."""
    given = [0] * len(needs)
    left = total
    waiting = sorted(range(len(needs)), key=lambda place: needs[place])
    for done, place in enumerate(waiting):
        given[place] = min(needs[place], left // (len(needs) - done))
        left -= given[place]
    return given


def _reach(text: str, words: int) -> int:
    """Where the last whole word ends that still fits; 0 where the first is too long already."""
    end, left = 0, words
    for word in _WORD.finditer(text):
        left -= length(word[0])
        if left < 0:
            break
        end = word.end()
    return end


def _characters(text: str, words: int) -> int:
    """How many characters of one long word make up `words`."""
    beginning = text[: words * _LONG]
    wide = len(_WIDE.findall(beginning))
    return min(len(beginning), words * _LONG - 1) if wide * 4 < len(beginning) else max(1, (words - 1) * _WIDE_PER_WORD)

"""Initials: the shortest names that a slate can give its speakers without one being taken for another."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

# What cannot be misread within `C = Caroline, M = Melanie`: no comma, equals sign, colon or break.
_PLAIN = re.compile(r"[^\W\d_][\w .'\u2019-]*")
_LONGEST = 3


def initials(names: Iterable[str]) -> dict[str, str]:
    """Initials by name, of those of `names` that have any.

    They are the first that mean no other: the first letter, the first letters of all words, the first two letters, the
    first three. They mean another where its name begins with them, in whatever case, or where it has them already. A
    name without such initials, or one that could be misread in a legend, is left out.
    """
    ordered = sorted(set(names))
    folded = sorted(name.casefold() for name in ordered)
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in ordered:
        for short in _candidates(name):
            key = short.casefold()
            if key not in taken and _means_none_but(name.casefold(), key, folded):
                found[name] = short
                taken.add(key)
                break
    return found


def _candidates(name: str) -> Iterator[str]:
    if not _PLAIN.fullmatch(name):
        return
    words = [word for word in re.split(r"[\s.'\u2019-]+", name) if word]
    for short in (name[0], "".join(word[0] for word in words), *(name[:n] for n in range(2, _LONGEST + 1))):
        if short.isalpha() and len(short) <= _LONGEST:
            yield short


def _means_none_but(own: str, key: str, folded: list[str]) -> bool:
    """Whether no name but `own` begins with `key`; `folded` is sorted."""
    at = bisect_left(folded, key)
    beginning = [name for name in folded[at : at + 2] if name.startswith(key)]
    return beginning in ([], [own])

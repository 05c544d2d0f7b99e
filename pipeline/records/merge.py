"""One text that stands for several records: the best clauses of each, fair to all of them, in order."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.records.details import WORTH, detail, terms
from pipeline.records.lengths import clipped, length, one_line, shares
from pipeline.records.record import MERGED_WORDS

_BREAK = re.compile(r"(?<=[;.!?。！？])\s+|(?<=[。！？])")
_SPEAKER = re.compile(r"([^\s:;.]{1,40}(?: [^\s:;.]{1,40}){0,2}): (?=\S)")
_DATE = re.compile(r" \((?:week of )?\d{4}[\d-]{0,6}\)")
_FEW = 7
"""Words: where a record gets less, the beginning of a clause would tell nothing."""


def merged(texts: Sequence[str], words: int = MERGED_WORDS) -> str:
    """At most `words` of the texts. A text that is shorter than its even share leaves the rest of it to the others."""
    lines = [line for line in map(one_line, texts) if line.strip(" .;")]
    if len(lines) > words:
        lines = [lines[place * len(lines) // words] for place in range(words)]
    given = shares([length(line) for line in lines], words)
    parts = [_best(line, share) for line, share in zip(lines, given, strict=True)]
    return clipped(". ".join(part for part in parts if part), words)


def _best(line: str, words: int) -> str:
    """The clauses of a record that hold most for their words, in order, within `words`."""
    if length(line) <= words:
        return line.rstrip(" .;")
    clauses = _clauses(line)
    held = [sum(terms(said.split()).values()) for _, said in clauses]
    cost = [length(said) + length(who) for who, said in clauses]
    ranked = sorted(range(len(clauses)), key=lambda place: -held[place] / (cost[place] + 6))
    chosen: list[int] = []
    left = words
    for place in ranked:
        if cost[place] <= left:
            chosen.append(place)
            left -= cost[place]
    if not chosen:
        who, said = clauses[ranked[0]]
        return clipped(f"{who}{said}", words) if words >= _FEW else _telling_words(said, words)
    return clipped(_joined([clauses[place] for place in sorted(chosen)]), words)


def _telling_words(said: str, words: int) -> str:
    """Those words in a row, of a clause, that hold most."""
    tokens = _DATE.sub("", said).split()
    kinds = [detail(token).kind for token in tokens]
    each = [0.0 if kind == "time" else WORTH[kind] for kind in kinds]
    held = [sum(each[start : start + words]) for start in range(max(1, len(tokens) - words + 1))]
    start = held.index(max(held))
    return clipped(" ".join(tokens[start : start + words]), words)


def _clauses(line: str) -> list[tuple[str, str]]:
    """The clauses of a record's text, each with who says it (`Ana: `), as the last one named does."""
    found: list[tuple[str, str]] = []
    who = ""
    for part in _BREAK.split(line):
        named = _SPEAKER.match(part)
        who = named[0] if named is not None else who
        if said := part[named.end() if named is not None else 0 :].rstrip(" ;."):
            found.append((who, said))
    return found or [("", line)]


def _joined(clauses: Sequence[tuple[str, str]]) -> str:
    text, last = "", ""
    for who, said in clauses:
        text += f"; {said}" if text and who == last else f"{'; ' if text else ''}{who}{said}"
        last = who
    return text

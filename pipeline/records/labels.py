"""What a record may be found by beside its text: keywords, and a short description."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from pipeline.records.details import WORTH, detail, wide_runs
from pipeline.records.lengths import clipped
from pipeline.records.lexicon import foreign_grammar, grammar
from pipeline.records.telling import named_by

MOST_KEYWORDS = 12
DESCRIPTION_WORDS = 15
_KEYWORD_WORDS = 4
_OFTEN = 3
"""A word that is said more often than this counts no more."""
_SHORTEST = 3
_SHORTEST_WIDE = 2
_LONGEST_WIDE = 12
_CODE = re.compile(r"[(\[{=\"'<>|;]")
"""What ends a name in code."""
_NAMES = re.compile(r"[A-Z](?<=[a-z,\"“(] .)[\w'’-]{1,30}(?: [A-Z][\w'’-]{1,30}){1,3}")
_KEPT = frozenset(("word", "name", "identifier"))


def keywords(texts: Sequence[str], speakers: Iterable[str | None]) -> tuple[str, ...]:
    """The words of sentences or lines that tell most and recur: names, identifiers and rare words.

    Names that stand beside each other are one. Who speaks is no keyword: that is told anyway.
    """
    known = named_by({speaker for speaker in speakers if speaker})
    lines = "\n".join(texts)
    counts = Counter(lines.split())
    for token in [token for token in counts if not token.isascii()]:
        for run in wide_runs(token):
            counts[run] += counts[token]
    if sum(map(foreign_grammar().__contains__, counts)) > sum(map(grammar().__contains__, counts)):
        known |= foreign_grammar()
    begin = {words[0] for text in texts if (words := text.split(None, 1))}
    said: Counter[str] = Counter()
    written: dict[str, tuple[str, float]] = {}
    for token, count in counts.items():
        word, key, value = _keyword(token, begins=token in begin)
        if value and key not in known:
            said[key] += count
            if value > written.get(key, ("", 0.0))[1]:
                written[key] = word, value
    for name in _NAMES.findall(lines):
        if known.isdisjoint(name.lower().split()):
            said[name] += 1
            written[name] = name, 2 * WORTH["name"]
    ranked = sorted(said, key=lambda key: -written[key][1] * (1 + min(said[key], _OFTEN)))
    return _apart([clipped(written[key][0], _KEYWORD_WORDS) for key in ranked[: 2 * MOST_KEYWORDS]])


def description(who: Sequence[str], tags: Sequence[str], keywords: Sequence[str]) -> str:
    """A phrase of at most 15 words: `Ana, Ben on work, travel: Rome, Hotel Lux`."""
    about = ", ".join(tags[:3])
    subject = " on ".join(part for part in (", ".join(dict.fromkeys(who[:3])), about) if part)
    phrase = ": ".join(part for part in (subject, ", ".join(keywords[:5])) if part)
    return clipped(phrase, DESCRIPTION_WORDS)


@lru_cache(maxsize=65_536)
def _keyword(token: str, *, begins: bool) -> tuple[str, str, float]:
    """A token as a keyword, its key and its worth (0: none). A word that `begins` a sentence may be no name."""
    found = detail(token)
    word, kind = found.word, found.kind
    if wide_runs(token) and len(token) > _LONGEST_WIDE:
        return word, found.key, 0.0  # its runs stand for it
    if kind == "name" and begins and word[1:].islower():
        kind = "word"
    if kind in ("identifier", "word"):
        word = _CODE.split(word, maxsplit=1)[0]
    if kind not in _KEPT or len(word) < (_SHORTEST if word.isascii() else _SHORTEST_WIDE):
        return word, found.key, 0.0
    return word.lower() if kind == "word" else word, found.key, WORTH[kind]


def _apart(words: Sequence[str]) -> tuple[str, ...]:
    """The first of the words, less those that are part of a name before them."""
    kept: dict[str, None] = {}
    parts: set[str] = set()
    for word in words:
        if word not in parts:
            kept[word] = None
            parts.update(word.split())
    return tuple(kept)[:MOST_KEYWORDS]

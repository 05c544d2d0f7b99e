"""What each word of a text is worth keeping for: a name, a number, an identifier, or a word that is rare in chat."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pipeline.records.lexicon import EVENTS, NUMBERS, PLAIN, TIMES, grammar

Kind = Literal["grammar", "plain", "word", "time", "event", "name", "number", "identifier"]

WORTH: dict[Kind, float] = {
    "grammar": 0.0,
    "plain": 0.05,
    "word": 1.0,
    "time": 1.6,
    "event": 0.6,
    "name": 2.0,
    "number": 1.6,
    "identifier": 2.2,
}

_PUNCTUATION = ".,;:!?\"'“”‘’()[]{}<>*…—–-`~|、。，！？「」『』（）"
_IDENTIFIER = re.compile(
    r"(?:https?://|www\.).|.@.+\..|.[/\\].*[./\\_].|^[~.]?/.|.::.|^--?\w|^@\w|^#\w"  # addresses, paths, options, tags
    r"|.\w_\w|[a-z][A-Z]|[A-Za-z]\d\d|^\w+\.[a-z]{1,4}$|\w\(\)?$|^\w+(?:\.\w+)+\("  # names in code, files
)
_JOINED = ("'m", "'ve", "'ll", "'d", "'re", "n't")
_LONGEST = 80
_WIDE_RUN = re.compile("[\u3400-\u9fff]{2,6}|[\u30a0-\u30ff]{2,12}|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]{2,12}")


@dataclass(frozen=True, slots=True)
class Detail:
    """A word without what stands around it, the key by which it counts once, and what kind of thing it is."""

    word: str
    key: str
    kind: Kind


@lru_cache(maxsize=65_536)
def detail(token: str) -> Detail:
    """What a token between spaces is. Tokens recur: all but new ones are looked up."""
    word = token[:_LONGEST].strip(_PUNCTUATION)
    lower = word.lower().replace("’", "'")
    key = lower.removesuffix("'s")
    if not key:
        return Detail(word, key, "grammar")
    return Detail(word, key.removesuffix("s") if len(key) > 4 else key, _kind(token[:_LONGEST], word, key, lower))


def terms(tokens: Iterable[str]) -> dict[str, float]:
    """The keys of what is worth something among the tokens of one sentence, and how much.

    Of a token in a script without spaces each run of letters counts. The first word is a name only where its other
    letters say so too: every sentence begins with a capital.
    """
    found: dict[str, float] = {}
    first = True
    for token in tokens:
        known = detail(token)
        value = WORTH[known.kind]
        if first:
            first = False
            if known.kind == "name" and known.word[1:].islower():
                value = WORTH["word"]
        if not value:
            continue
        if not token.isascii() and (runs := wide_runs(token)):
            found.update((run, 0.5 * len(run) ** 0.5) for run in runs)
        else:
            found[known.key] = value
    return found


def wide_runs(token: str) -> list[str]:
    """The runs of letters, at most a few long, of a token in a script without spaces; none of any other token."""
    return [] if token.isascii() else _WIDE_RUN.findall(token)


def _kind(token: str, word: str, key: str, lower: str) -> Kind:
    """The first kind that fits."""
    bare = token.strip(",;:!?\"'“”‘’")
    fits: tuple[tuple[Kind, bool], ...] = (
        ("number", not _IDENTIFIER.search(word) and any(map(str.isdigit, key[:24]))),
        ("time", key in TIMES),
        ("event", key in EVENTS),
        ("number", key in NUMBERS),
        ("grammar", key in grammar() or lower in grammar() or lower.endswith(_JOINED)),
        ("identifier", _IDENTIFIER.search(bare) is not None),
        ("plain", key in PLAIN or lower in PLAIN or len(key) < 2 or lower.endswith("ly")),
        ("name", _is_name(word)),
    )
    return next((kind for kind, holds in fits if holds), "word")


def _is_name(word: str) -> bool:
    """A capital and small letters, or an acronym."""
    if word.isupper():
        return word.isascii() and 2 <= len(word) <= 8
    return len(word) > 1 and word[0].isupper()

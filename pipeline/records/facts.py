"""Facts of a chat: which sentence tells one, of what kind, and when it was or will be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from pipeline.records.dates import first_time
from pipeline.records.record import Fact, FactKind

_LONGEST = 240
"""Characters of a fact's text."""
_WORDS: Sequence[tuple[FactKind, str]] = (
    (
        "plan",
        r"(?:i|we)(?:'m|'re| am| are) (?:going to|gonna|planning|thinking (?:of|about)|hoping"
        r"|looking (?:forward|into))"
        r"|(?:i|we)(?:'ll| will)|tomorrow|next (?:week|month|year|weekend|summer|\w+day)|plan(?:s|ning)? (?:to|on)"
        r"|(?:can't|cannot) wait to|hope to|want(?:s)? to|intend to|upcoming",
    ),
    (
        "update",
        r"no longer|not any ?more|anymore|used to|instead of|switched|changed|moved (?:to|from|in|out)|quit|new job"
        r"|now (?:i|we|it)|since then|turns out|actually decided|got promoted|broke up|updated?|as of now",
    ),
    (
        "preference",
        r"(?:i|we)(?: really| just| also| absolutely)? (?:love|like|prefer|enjoy|hate|dislike|adore)"
        r"|favou?rite|my fave|can't stand|i'm (?:a fan|into|allergic)|big fan|prefer(?:s|red)?",
    ),
    (
        "event",
        r"yesterday|ago|last (?:week|month|year|night|weekend|summer|\w+day)|this (?:morning|weekend|past)|today"
        r"|(?:i|we|he|she|they)(?: just| finally| recently| also)? (?:\w+ed|went|got|bought|met|took|had|saw|made"
        r"|ran|won|lost|found|gave|came|began|did|wrote|built|left|sold|spent|quit|read|tried)",
    ),
)
_KINDS = tuple((kind, re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)) for kind, words in _WORDS)
"""The first whose words a sentence has."""


def kind_of(sentence: str) -> FactKind:
    """What kind of fact a sentence tells, as far as its words say; `fact` where none does."""
    plain = sentence.replace("’", "'")
    return next((kind for kind, words in _KINDS if words.search(plain)), "fact")


def facts(told: Iterable[tuple[int, str]], session_time: datetime | None) -> tuple[Fact, ...]:
    """A fact of each sentence that a turn (`turn_index`) tells; of the same sentence in several turns one."""
    turns: dict[str, dict[int, None]] = {}
    for turn, sentence in told:
        turns.setdefault(cut(sentence), {})[turn] = None
    return tuple(_fact(text, tuple(by), session_time) for text, by in turns.items() if text)


def cut(text: str) -> str:
    """At most 240 characters of a text, to the end of a word."""
    if len(text) <= _LONGEST:
        return text
    space = text.rfind(" ", _LONGEST // 2, _LONGEST)
    return text[: space if space > 0 else _LONGEST].rstrip()


def _fact(text: str, turns: tuple[int, ...], session_time: datetime | None) -> Fact:
    time = first_time(text, session_time)
    if time is None:
        return Fact(kind_of(text), text, turns)
    return Fact(kind_of(text), text, turns, time.date, time.precision)

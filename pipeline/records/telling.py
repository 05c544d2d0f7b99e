"""What the sentences of a chat are worth telling: each without its filler, with what it holds and how much that is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pipeline.records.details import detail, terms
from pipeline.records.lexicon import EVENTS, TURNS_ROUND
from pipeline.records.record import UnitTurn
from pipeline.records.sentences import sentences

MOST_WORDS = 22
"""The longest that one telling is in a record; a longer sentence is cut to the best of its clauses."""

_GREETING = re.compile(
    r"(?:(?:so|and|but|also|well|actually|plus|i think|i guess|you know|by the way|btw|yeah|honestly)"
    r"(?:,\s*|\s+(?=[a-z])|\s+(?=I(?:'m|'ve|’m|’ve)? ))"
    r"|(?:hey|hi|hello|wow|woah|yeah|yep|yup|yes|nope?|oh|thanks(?: so much| a lot)?|thank you(?: so much)?|of course"
    r"|okay|ok|anyways?|totally|absolutely|definitely|sure|haha|lol|aww|really|congrats|cool|great|nice|awesome"
    r"|for sure|that's (?:great|awesome|cool)|so)(?:[,!.~—]+\s*|\s+(?=[A-Z][a-z]+[,!]\s)))+(?:[A-Z][a-z]+[,!.]\s+)?",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"(?:I|We)(?:(?:'m|’m|'ve|’ve|'re|’re| am| have| just| also| was| were) | )(?=[a-z])")
"""Who tells is named before what is told."""
_CLAUSE = re.compile(
    r"(?:[,;—–]+|\s-)\s+(?:(?:and|but|so|which|because|as|since) )?| (?=(?:and (?:i|it|we|they|he|she|i'm|it's)"
    r"|but|because|so that|since|which)(?!\w))",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？][\"'”’)\]]*$")
_SELF = frozenset(
    ("i", "we", "my", "our", "me", "us", "i'm", "i've", "i'd", "i'll", "we're", "we've", "we'll", "myself")
)
_OTHER = frozenset(("you", "your", "you're", "you've", "you'll", "yourself"))
_POLITE = re.compile(
    r"^(?:thank|congrat|glad|good luck|take care|sounds|that's|that is|this is so|looks|way to go|keep (?:it )?up"
    r"|so (?:glad|happy|proud)|i (?:really )?(?:appreciate|agree|understand)|can't wait to (?:hear|see)|no problem"
    r"|you're welcome|i'm (?:so )?(?:glad|happy|sorry|here)|let me know|feel free|happy to|hope (?:this|that|you)"
    r"|here(?:'s| is| are)|it(?:'s| is) (?:great|good|important|always)|as an ai|i hope)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"'”’`][.!?]{0,2}$")
"""The end of what is quoted is no clause of its own."""
_IDLE = 0.5
"""What a sentence without a detail is worth at most; most of a chat is such."""
_BARE_CLAUSE = 0.5
"""A clause that is worth less is left out at either end of a sentence."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A sentence of a turn: what it says, verbatim; its terms and what each is worth; how much it tells."""

    turn: UnitTurn
    place: int
    """Characters of the unit before it."""
    sentence: str
    terms: dict[str, float]
    words: int
    factor: float
    worth: float


def tellings(turns: tuple[UnitTurn, ...]) -> list[Telling]:
    """The sentences of a unit that tell anything, in order."""
    found: list[Telling] = []
    known = named_by({turn.speaker for turn in turns if turn.speaker})
    place = 0
    for turn in turns:
        asks_a_model = turn.speaker is None and turn.role == "user"
        weight = 1.0 if turn.speaker is not None or turn.role == "user" else 0.5
        for sentence in sentences(turn.text):
            words = sentence.text.split()
            held = terms(words)
            for name in known & held.keys():
                del held[name]
            if held and (len(words) > 1 or not sentence.text.isascii()):
                total = sum(held.values())
                factor = weight * _factor(sentence.text, held, asks_a_model) if total > _IDLE else 0.0
                told = Telling(turn, place + sentence.start, sentence.text, held, len(words), factor, factor * total)
                found.append(told)
        place += len(turn.text)
    return found


def named_by(speakers: Iterable[str]) -> frozenset[str]:
    """How those who speak are called, in lower case: their names, and the short forms that begin them (`mel`).

    To be called by name tells nothing.
    """
    names = {word for speaker in speakers for word in speaker.lower().split()}
    return frozenset(word[:end] for word in names for end in range(min(3, len(word)), min(len(word), 20) + 1))


def compact(sentence: str, held: Mapping[str, float], most_words: int = MOST_WORDS) -> str:
    """A sentence less its greeting, `I` and the clauses at its ends that tell nothing: a verbatim part of it.

    `held` are its terms, and what each is worth.
    """
    start = _lead(sentence)
    subject = _SUBJECT.match(sentence, start)
    if subject is not None:
        start = subject.end()
    clauses = list(_clauses(sentence, held, start))
    while len(clauses) > 1 and clauses[-1][2] < _BARE_CLAUSE and not _QUOTED.search(sentence):
        clauses.pop()
    while len(clauses) > 1 and clauses[0][2] < _BARE_CLAUSE:
        clauses.pop(0)
    first, last = _best_run(clauses, most_words)
    start, end = clauses[first][0], clauses[last][1]
    subject = _SUBJECT.match(sentence, start, end) if first else None
    return sentence[subject.end() if subject is not None else start : end].rstrip(" .,;!:—–-。！")


def said(sentence: str) -> str:
    """A sentence less its greeting: what a fact is."""
    return sentence[_lead(sentence) :]


def _lead(sentence: str) -> int:
    greeting = _GREETING.match(sentence)
    return greeting.end() if greeting is not None and greeting.end() < len(sentence) else 0


def _clauses(sentence: str, held: Mapping[str, float], start: int) -> Iterator[tuple[int, int, float, int]]:
    """Of each clause its start and end, what it is worth, and its words."""
    for border in _CLAUSE.finditer(sentence, start):
        if border.start() > start:
            yield _weighed(sentence, held, start, border.start())
        start = border.end()
    yield _weighed(sentence, held, start, len(sentence))


def _weighed(sentence: str, held: Mapping[str, float], start: int, end: int) -> tuple[int, int, float, int]:
    words = sentence[start:end].split()
    value = sum([held.get(detail(word).key, 0.0) for word in words])
    if value < _BARE_CLAUSE and not TURNS_ROUND.isdisjoint(sentence[start:end].lower().replace("’", "'").split()):
        value = _BARE_CLAUSE
    return start, end, value, len(words)


def _best_run(clauses: list[tuple[int, int, float, int]], most_words: int) -> tuple[int, int]:
    """The first and last of those clauses in a row that are worth most within `most_words`; one at least."""
    best, best_worth = (0, 0), -1.0
    for first in range(len(clauses)):
        words = total = 0.0
        for last in range(first, len(clauses)):
            words += clauses[last][3]
            if words > most_words and last > first:
                break
            total += clauses[last][2]
            if total > best_worth:
                best, best_worth = (first, last), total
            if words > most_words:
                break
    return best


def _factor(sentence: str, held: Mapping[str, float], asks_a_model: bool) -> float:
    """How much of what a sentence holds it also tells."""
    plain = sentence.replace("’", "'")
    if sentence.startswith("[") and sentence.endswith("]"):
        return 0.3  # the caption of an image: what it shows is seldom what is talked of
    if _ASKS.search(sentence):
        return 0.9 if asks_a_model else 0.25
    factor = 0.4 if sentence.endswith(":") or _POLITE.match(plain, _lead(plain)) else 1.0
    words = plain.lower().split()
    if not _SELF.isdisjoint(words):
        return factor * (1.3 if held.keys().isdisjoint(EVENTS) else 1.7)
    return factor * 0.6 if not (asks_a_model or _OTHER.isdisjoint(words)) else factor * 0.85

"""The record's text of a chat: who said what, in order, within the words of a record."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pipeline.records.choosing import choose
from pipeline.records.dates import with_dates
from pipeline.records.lengths import clipped, length, one_line
from pipeline.records.record import RECORD_WORDS, UnitTurn
from pipeline.records.telling import MOST_WORDS, Telling, compact

_SPEAKER_WORDS = 3
_WITH_DATES = MOST_WORDS + 6
"""Words of one telling with the dates that are put into it."""


class Reading:
    """Chooses among the tellings of a unit, and writes what is chosen in a line."""

    def __init__(self, tellings: Sequence[Telling], session_time: datetime | None) -> None:
        self._tellings = tellings
        self._time = session_time
        self._said: dict[int, str] = {}
        self._costs: dict[int, int] = {}

    def chosen(self, words: int = RECORD_WORDS) -> list[int]:
        """The places of those that are told within `words`."""
        return choose(self._tellings, self._cost, words)

    def text(self, chosen: Sequence[int], words: int = RECORD_WORDS) -> str:
        """The chosen as one line of at most `words`: `Ana: went to Rome; stayed at Hotel Lux. Ben: has a dog`."""
        line, last = "", ""
        for place in chosen:
            who = speaker(self._tellings[place].turn)
            said = self._text(place)
            prefix = "; " if who == last else f"{'. ' if line else ''}{who}: "
            line += prefix + said
            last = who
        return clipped(line, words)

    def _text(self, place: int) -> str:
        if place not in self._said:
            told = self._tellings[place]
            said = one_line(compact(told.sentence, told.terms).replace("**", ""))
            self._said[place] = clipped(with_dates(said, self._time), _WITH_DATES)
        return self._said[place]

    def _cost(self, place: int) -> int:
        """The words of a telling with its speaker's name, which one that follows of the same speaker does not need."""
        if place not in self._costs:
            self._costs[place] = length(self._text(place)) + 1
        return self._costs[place]


def speaker(turn: UnitTurn) -> str:
    """Who is said to speak: by name, else by role."""
    return clipped(one_line(turn.speaker or ""), _SPEAKER_WORDS) or clipped(one_line(turn.role), 1).capitalize() or "?"

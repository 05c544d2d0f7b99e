"""A question with what must be planted for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from pipeline.synth.banks.events import Family
from pipeline.synth.telling import Statement

Answer = Callable[[Sequence[datetime]], str]


@dataclass(frozen=True)
class Case:
    """A question, its evidence (one statement a session, in the order of time) and its near misses.

    `answer` gets the times of the evidence sessions. `families` are those of the question: other facts of a history
    come from other families, so that they cannot change the answer. `subject` is what a question without families is
    about.
    """

    question_type: str
    question: str
    answer: Answer
    evidence: tuple[Statement, ...]
    near: tuple[Statement, ...]
    families: tuple[Family, ...] = ()
    subject: str = ""

    @property
    def about(self) -> frozenset[str]:
        """Names of all that the question is about: two questions of one history share none."""
        return frozenset(name for name in (*(family.name for family in self.families), self.subject) if name)


def always(answer: str) -> Answer:
    """An answer that does not depend on when things were said."""
    return lambda _times: answer

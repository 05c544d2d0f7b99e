"""Where the statements of a history go: which session, which turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pipeline.synth.banks.topic import Topic
from pipeline.synth.banks.topics import BY_NAME, TOPICS
from pipeline.synth.dice import Dice
from pipeline.synth.telling import ASSISTANT, USER, Statement

_TURNS = ((6, 1), (8, 3), (10, 5), (12, 3), (14, 1))
STARTS_WITH_ASSISTANT, ODD = 0.07, 0.07
ON_TOPIC = 0.5
"""How often a session that holds statements is about a topic of one of them."""


@dataclass
class Draft:
    """A session before its text: the role of each turn, and what is planted where."""

    topic: Topic
    roles: list[str]
    planted: dict[int, str] = field(default_factory=dict)
    evidence: set[int] = field(default_factory=set)

    def plant(self, dice: Dice, statement: Statement, evidence: bool = False) -> bool:
        """Puts a statement into a free turn of its role, its lead into the turn before; False when none is free."""
        free = [turn for turn, role in enumerate(self.roles) if role == statement.role and self._fits(turn, statement)]
        if not free:
            return False
        turn = dice.pick(free)
        self.planted[turn] = statement.text
        if statement.lead:
            self.planted[turn - 1] = statement.lead
        if evidence:
            self.evidence.add(turn)
        return True

    def _fits(self, turn: int, statement: Statement) -> bool:
        if turn in self.planted:
            return False
        return not statement.lead or (turn > 0 and turn - 1 not in self.planted)


def draft(dice: Dice, statements: Sequence[Statement]) -> Draft:
    """A session that suits the statements, still without them."""
    on_topic = statements and dice.chance(ON_TOPIC)
    topic = BY_NAME[dice.pick(dice.pick(statements).topics)] if on_topic else dice.pick(TOPICS)
    first = ASSISTANT if dice.chance(STARTS_WITH_ASSISTANT) else USER
    n = dice.weighted(_TURNS) - (1 if dice.chance(ODD) else 0)
    second = USER if first == ASSISTANT else ASSISTANT
    return Draft(topic, [second if turn % 2 else first for turn in range(n)])

"""Facts as sentences of the user or of the assistant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.synth.banks.telling import ASSISTANT_FRAMES, USER_FRAMES
from pipeline.synth.dice import Dice
from pipeline.synth.grammar import say

USER, ASSISTANT = "user", "assistant"
USER_SHARE = 0.5
"""Of the facts that either may tell: about the share of user turns among a pool's candidates: role says nothing."""

_SECOND_PERSON = {"i": "you", "my": "your", "me": "you", "we": "you", "our": "your", "us": "you", "am": "are"}
_FIRST_PERSON_WORD = re.compile(rf"\b({'|'.join(_SECOND_PERSON)})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """A sentence to be planted in a turn of `role`, at best in a session about one of `topics`.

    `lead` is a sentence for the turn before it, which then names what the statement only points at; empty for none.
    """

    text: str
    role: str
    topics: tuple[str, ...]
    lead: str = ""


def either_role(dice: Dice) -> str:
    """The role that tells a fact."""
    return USER if dice.chance(USER_SHARE) else ASSISTANT


def tell(dice: Dice, fact: str, role: str, topics: Sequence[str], lead: str = "") -> Statement:
    """The statement of a fact, given as a clause in the user's words."""
    frames = USER_FRAMES if role == USER else ASSISTANT_FRAMES
    told = fact if role == USER else second_person(fact)
    return Statement(say(dice.pick(frames), dice, {"fact": told}), role, tuple(topics), lead)


def second_person(clause: str) -> str:
    """The user's words as the assistant repeats them: `my tent` becomes `your tent`."""
    return _FIRST_PERSON_WORD.sub(lambda word: _SECOND_PERSON[word[0].lower()], clause)

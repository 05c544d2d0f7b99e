"""Questions for what the assistant named (single-session-assistant)."""

from __future__ import annotations

from pipeline.synth.banks.recommendations import KINDS, Kind
from pipeline.synth.case import Case, always
from pipeline.synth.dice import Dice
from pipeline.synth.grammar import say
from pipeline.synth.telling import ASSISTANT, USER, Statement

_NAMED = (
    "(For|As) {a kind} {purpose}, (I would suggest|have a look at|try|consider) {name}.",
    "{name} (comes to mind|is a good choice) if you (want|need) {a kind} {purpose}.",
    "One {kind} {purpose} (is|that people like is) {name}.",
    "(Have you tried|Do you know) {name}? It is {a kind} {purpose}.",
)
_WONDERED = (
    "(Somebody|A friend) asked me for {a kind} {purpose}, and I had (nothing|no idea).",
    "(Finding|I gave up on finding) {a kind} {purpose} (is never easy|, there are too many).",
)
_ASK = (
    "(What was|Remind me of) the (name of the|) {kind} {purpose} that you (recommended|suggested)?",
    "(Earlier|Some time ago) you (told|gave) me {a kind} {purpose}. What was it (called|)?",
    "Which {kind} {purpose} did you recommend to me?",
)
OTHER_WORDS = 0.6
"""How often the evidence says the purpose in other words than the question."""


def recommended(dice: Dice, _kappa: int, near: int) -> Case:
    """One name in an assistant turn; near misses name others for other purposes, or ask."""
    kind = dice.pick(KINDS)
    (asked, paraphrase), *others = dice.shuffled(kind.purposes)
    name, *unused = _names(dice, kind)
    purpose = paraphrase if dice.chance(OTHER_WORDS) else asked
    rivals = [_said(dice, _NAMED, kind, dice.pick(dice.pick(others)), dice.pick(unused)) for _ in range(near * 2 // 3)]
    wondered = [_said(dice, _WONDERED, kind, asked, "", USER) for _ in range(near - len(rivals))]
    return Case(
        "single-session-assistant",
        say(dice.pick(_ASK), dice, {"kind": kind.kind, "purpose": asked}),
        always(name),
        (_said(dice, _NAMED, kind, purpose, name),),
        (*rivals, *wondered),
        subject=kind.kind,
    )


def _names(dice: Dice, kind: Kind) -> list[str]:
    return dice.shuffled([f"{first} {second}" for first in kind.firsts for second in kind.seconds])


def _said(
    dice: Dice, templates: tuple[str, ...], kind: Kind, purpose: str, name: str, role: str = ASSISTANT
) -> Statement:
    values = {"kind": kind.kind, "purpose": purpose, "name": name}
    return Statement(say(dice.pick(templates), dice, values), role, kind.topics)

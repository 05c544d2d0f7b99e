"""Templates: `(this|that|)` chooses, `{slot}` is filled, `{a slot}` and `{the slot}` with its article."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pipeline.synth.dice import Dice

_CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")
_SLOT = re.compile(r"\{(?:(a|the) )?(\w+)\}")
_AN = re.compile(r"^(?:[aeio]|u(?!ni|se|kulele)|hour|honest)", re.IGNORECASE)


def say(template: str, dice: Dice, values: Mapping[str, str] | None = None) -> str:
    """One text of a template: innermost choices first, then slots, spaces tidied, the first letter upper case.

    Raises KeyError when a slot has no value.
    """
    text = phrase(template, dice, values)
    return text[:1].upper() + text[1:]


def phrase(template: str, dice: Dice, values: Mapping[str, str] | None = None) -> str:
    """As `say`, for a part of a sentence: the first letter stays as it is."""
    text = template
    while match := _CHOICE.search(text):
        text = text[: match.start()] + dice.pick(match[1].split("|")) + text[match.end() :]
    tidy = re.sub(r" {2,}", " ", fill(text, values or {}))
    return re.sub(r" +([,.?!;:]|$)", r"\1", tidy).strip()


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with its slots filled and nothing else changed: for text whose spaces matter."""
    return _SLOT.sub(lambda slot: _filled(slot, values), template)


def _filled(slot: re.Match[str], values: Mapping[str, str]) -> str:
    value = values[slot[2]]
    if slot[1] == "a":
        return with_article(value)
    return f"the {value}" if slot[1] == "the" else value


def with_article(noun: str) -> str:
    """`an apple` of `apple`."""
    return f"{'an' if _AN.match(noun) else 'a'} {noun}"

"""What a session may be about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    """A subject of conversation: nouns, verb phrases (infinitive), the assistant's tips, the user's remarks."""

    name: str
    things: tuple[str, ...]
    deeds: tuple[str, ...]
    tips: tuple[str, ...]
    remarks: tuple[str, ...]


def words(text: str) -> tuple[str, ...]:
    """The parts of a list written with `;` between them, on any number of lines."""
    return tuple(" ".join(part.split()) for part in text.split(";") if part.strip())

"""How a reader is asked: what it is told to do, and how slate, date and question stand in the prompt.

`longmemeval` and `notes` follow the reading of LongMemEval (arXiv 2410.10813): directly, or from notes that are taken
first. `locomo` asks for the short answers that LoCoMo's F1 expects (arXiv 2402.17753). The words are our own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from models.interfaces import Prompt
from pipeline.llm.prompts import instructions
from pipeline.llm.untrusted import fenced

NOTES_TOKENS = 500
"""As LongMemEval allows the notes of a part of a history."""


@dataclass(frozen=True)
class Shape:
    """Names of instructions (pipeline.llm.prompts), and the most tokens of an answer."""

    instructions: str
    max_tokens: int
    notes: str | None = None
    """Instructions for notes, which are then read in place of the slate."""

    @property
    def config(self) -> dict[str, Any]:
        """All that decides the prompts, as plain literals."""
        read = [instructions(name).identity for name in (self.notes, self.instructions) if name is not None]
        return {"instructions": read, "max_tokens": self.max_tokens, "notes_tokens": NOTES_TOKENS if self.notes else 0}


SHAPES = {
    "longmemeval": Shape("read_direct", 500),
    "notes": Shape("read_from_notes", 500, notes="take_notes"),
    "locomo": Shape("read_short", 64),
}
"""Every shape by its name."""


@dataclass(frozen=True)
class Asked:
    """A request over a slate's text."""

    slate: str
    question: str
    asked_at: datetime | None


@dataclass(frozen=True)
class Draw:
    """Which of the answers to a prompt: the likeliest at temperature 0, else the one that `seed` draws."""

    temperature: float = 0.0
    seed: int = 0


def notes_prompt(shape: Shape, asked: Asked, draw: Draw) -> Prompt:
    """What asks for notes, of a shape that takes them."""
    assert shape.notes is not None
    return _prompt(shape.notes, "history", asked.slate, asked, NOTES_TOKENS, draw)


def answer_prompt(shape: Shape, asked: Asked, notes: str | None, draw: Draw) -> Prompt:
    """What asks for the answer: from the notes where the shape takes them, else from the slate."""
    name, text = ("history", asked.slate) if shape.notes is None else ("notes", notes or "")
    return _prompt(shape.instructions, name, text, asked, shape.max_tokens, draw)


def _prompt(told: str, name: str, text: str, asked: Asked, max_tokens: int, draw: Draw) -> Prompt:
    date = "" if asked.asked_at is None else f"Current date: {asked.asked_at:%Y/%m/%d (%a) %H:%M}\n\n"
    user = f"{fenced(name, text)}\n\n{date}{fenced('question', asked.question)}"
    return Prompt(instructions(told).text, user, max_tokens, temperature=draw.temperature, seed=draw.seed)

"""Prompts that are made of parts, of which as many are taken as a model's context holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from models.interfaces import LanguageModel, Prompt


class InParts(NamedTuple):
    """What makes a prompt of so many parts, and how many there are. More parts make no prompt shorter."""

    made: Callable[[int], Prompt]
    parts: int


class Fitted(NamedTuple):
    """A prompt, and how many parts it has; with none it may still be too long."""

    prompt: Prompt
    parts: int


def fitted(model: LanguageModel, asked: Sequence[InParts]) -> list[Fitted]:
    """Each prompt with the most parts that leave room for its answer."""
    whole = [each.made(each.parts) for each in asked]
    counts = model.count(whole) if whole else []
    return [
        Fitted(prompt, each.parts) if n_tokens + prompt.max_tokens <= model.context else _cut(model, each)
        for each, prompt, n_tokens in zip(asked, whole, counts, strict=True)
    ]


def _cut(model: LanguageModel, asked: InParts) -> Fitted:
    fits, too_many = 0, asked.parts
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        prompt = asked.made(middle)
        (n_tokens,) = model.count([prompt])
        fits, too_many = (middle, too_many) if n_tokens + prompt.max_tokens <= model.context else (fits, middle)
    return Fitted(asked.made(fits), fits)

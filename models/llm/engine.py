"""What runs a language model: a batch goes in whole, and may fail whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from models.interfaces import Answer, Prompt


class EngineDead(RuntimeError):
    """The engine is gone: nothing is answered before it is made anew."""


class NoEngine(RuntimeError):
    """The engine does not start; the message says why."""


class ModelGone(RuntimeError):
    """The engine was made anew as often as it may be; the message says why it died."""


class Engine(Protocol):
    """Runs a model. CarefulModel makes a LanguageModel of it."""

    name: str

    @property
    def context(self) -> int:
        """The most tokens of a prompt and its answer together."""
        ...

    def count(self, prompts: Sequence[Prompt]) -> list[int]:
        """Tokens of each prompt. May raise for one that cannot be read."""
        ...

    def run(self, prompts: Sequence[Prompt]) -> list[Answer]:
        """Answers a batch, in order. Raises EngineDead, or anything else for the whole batch."""
        ...

    def restart(self) -> None:
        """Makes a dead engine anew. May raise."""
        ...

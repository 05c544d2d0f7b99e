"""What runs a language model: a batch goes in whole, and may fail whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from models.interfaces import Answer, Prompt


class EngineDead(RuntimeError):
    """The engine is gone: nothing is answered before it is made anew. The prompts may be to blame or not."""


class NoEngine(RuntimeError):
    """The engine does not start; the message says why."""


class ModelGone(RuntimeError):
    """Nothing will be answered, however often it is tried; the message says why, and what to do where that is known."""


class Engine(Protocol):
    """Runs a model. `CarefulModel` makes a LanguageModel of it."""

    name: str

    @property
    def context(self) -> int:
        """The most tokens of a prompt and its answer together."""
        ...

    def count(self, prompts: Sequence[Prompt]) -> list[int]:
        """Tokens of each prompt, the template's included. May raise where one cannot be read."""
        ...

    def run(self, prompts: Sequence[Prompt]) -> list[Answer]:
        """Answers a batch, in order. Raises EngineDead, ModelGone, or anything else for the whole batch."""
        ...

    def restart(self) -> None:
        """Makes a dead engine anew. May raise."""
        ...

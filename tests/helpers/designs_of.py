"""The designs that ask a language model, over small histories and with a scripted model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from noted import COUNTER, stored
from scripted import ScriptedModel

from models.interfaces import Answer, Prompt
from pipeline.llm.prompts import instructions
from pipeline.memory.llm_designs.names import LLM_POLICIES
from pipeline.memory.llm_designs.read import llm_slates
from pipeline.memory.llm_designs.write import llm_notes
from pipeline.memory.options import MemoryOptions
from pipeline.policies.slates import SlateOptions

Script = Callable[[Prompt], str | Answer]


def kind(prompt: Prompt) -> str:
    """Which design asks."""
    names = ("read_agent", "listwise", "running_summary", "evolve_notes")
    return next(name for name in names if prompt.system == instructions(name).text)


def listed(prompt: Prompt) -> list[int]:
    """The numbers that a prompt lists."""
    return [int(number) for number in re.findall(r"^\[(\d+)\] ", prompt.user, re.MULTILINE)]


def sensible(prompt: Prompt) -> str:
    """Answers that can be used: the first words of what is there, and the last of what is listed."""
    asked = kind(prompt)
    numbers = listed(prompt)
    if asked == "running_summary":
        part = re.search(r"<part>\n(.*)\n</part>", prompt.user, re.DOTALL)
        so_far = re.search(r"<summary>\n(.*)\n</summary>", prompt.user, re.DOTALL)
        assert part is not None
        assert so_far is not None
        return f"{so_far[1]} then {' '.join(part[1].split()[:6])}"
    if asked == "evolve_notes":
        return json.dumps({"linked": [{"note": 1, "tags": ["New"], "description": "told anew"}]})
    return json.dumps({"pages" if asked == "read_agent" else "passages": numbers[::-1][:3]})


def useless(prompt: Prompt) -> str:
    """An answer that no design can use."""
    return "" if kind(prompt) == "running_summary" else "I would rather not."


class Shown:
    """What both stages made of a history's turns and requests, and what they asked."""

    def __init__(
        self,
        turns: list[dict[str, Any]],
        asked: Sequence[dict[str, Any]],
        memory: MemoryOptions,
        script: Script = sensible,
        policies: tuple[str, ...] = LLM_POLICIES,
        budgets: tuple[int, ...] = (120, 300),
        context: int = 4096,
        with_vectors: bool = True,
    ) -> None:
        made = stored([turns], asked, memory)
        noted = made.noted if with_vectors else replace(made.noted, unit_vectors=None, span_vectors=None)
        options = SlateOptions(policies, budgets)
        self.writer, self.reader = ScriptedModel(script, context), ScriptedModel(script, context)
        requests = made.asked.requests
        self.notes: pa.Table = llm_notes(requests, noted, options, memory, COUNTER, self.writer)
        self.slates, self.quarantine = llm_slates(
            made.asked, made.noted.turns, noted, self.notes, options, memory, COUNTER, self.reader
        )

    @property
    def prompts(self) -> list[Prompt]:
        """All that was asked, as it was asked."""
        return [prompt for model in (self.writer, self.reader) for batch in model.asked for prompt in batch]

    def rows(self, policy: str) -> list[dict[str, Any]]:
        """The slates of a policy."""
        return [row for row in self.slates.to_pylist() if row["policy"] == policy]

    def row(self, policy: str) -> dict[str, Any]:
        """The one slate of a policy."""
        (found,) = self.rows(policy)
        return found

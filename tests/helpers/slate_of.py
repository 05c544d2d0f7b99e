"""The slate of one policy of memory over a small history, through the real stages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from noted import COUNTER, request, said, stored

from pipeline.memory.options import MemoryOptions
from pipeline.memory.slates import memory_slates
from pipeline.policies.slates import SlateOptions
from pipeline.units.cut import CutOptions

DAY = datetime(2023, 5, 8, 9, tzinfo=UTC)


def memory(reader_tokens: int = 60, agent_tokens: int = 40, **more: Any) -> MemoryOptions:
    """Small units and pieces, and a request that takes nothing of the budget."""
    cut = CutOptions(reader_tokens=reader_tokens, agent_tokens=agent_tokens)
    small: dict[str, Any] = {"piece_tokens": 12, "seeds": 3, "excerpt_tokens": 24, "prompt_tokens": 0}
    return MemoryOptions(cut=cut, **{**small, **more})


def chat(*sessions: Sequence[str]) -> list[dict[str, Any]]:
    """A session a day, of Ana and Ben in turn."""
    return [
        {**row, "speaker": ("Ana", "Ben")[row["turn_index"] % 2]}
        for number, texts in enumerate(sessions)
        for row in said(number, *texts, time=DAY + timedelta(days=number))
    ]


def about(*topics: str, turns: int = 12) -> list[dict[str, Any]]:
    """A session of each topic: of 12 turns some 350 tokens, whose record has a fourth of that."""
    said_of = "So it was {} number {} that they had there, which is what all of us had been waiting for, and more."
    return chat(*[[said_of.format(topic, n) for n in range(turns)] for topic in topics])


def run(*steps: str) -> list[dict[str, Any]]:
    """A run of an agent, which is asked to mend something."""
    return said(0, ("user", "Mend the port."), *[("assistant", step) for step in steps])


def step(number: int, lines: int = 12) -> str:
    """A step whose action and outcome tell its number."""
    return f"Thought {number}.\n\n$ cat file{number}.txt\n=>\n" + "\n".join(f"out{number} {n}" for n in range(lines))


def slate(
    policy: str,
    turns: list[dict[str, Any]],
    text: str,
    budget: int,
    options: MemoryOptions | None = None,
    **asked: Any,
) -> dict[str, Any]:
    """The row of SLATES of one policy, request and budget."""
    given = options or memory()
    made = stored([turns], [request(text, **asked)], given)
    return memory_slates(made.asked, made.noted, SlateOptions((policy,), (budget,)), given, COUNTER).to_pylist()[0]


def units_of(row: dict[str, Any], resolution: str) -> list[tuple[int, int]]:
    """Session and unit of what is shown at a resolution, each once, in the order of the slate."""
    items = [item for item in row["items"] if item["resolution"] == resolution]
    return list(dict.fromkeys((item["session_index"], item["unit_index"]) for item in items))

"""What a history of an agent is made of: its steps, and which of them need again what others showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """A thought, a call of a tool and its output. `shows`: texts of the output that a later step may need."""

    thought: str
    tool: str
    arguments: Mapping[str, str | int]
    output: str
    shows: tuple[str, ...] = ()

    @property
    def action(self) -> str:
        """What was called, and with which values, a line each."""
        return "\n".join([self.tool, *map(str, self.arguments.values())])


@dataclass(frozen=True)
class Reuse:
    """A detail that the action of step `used` holds verbatim, and that the outputs of the steps `shown` held before.

    `held` is the latest step before `used` that holds it at all, in its thought, its action or its output.
    """

    text: str
    used: int
    shown: tuple[int, ...]
    held: int

    @property
    def distance(self) -> int:
        """How many steps back it was last to be read."""
        return self.used - self.held


@dataclass(frozen=True)
class AgentHistory:
    """A run of an agent. Steps count from 0. `time` is when it began, in seconds since 1970; a step takes a while."""

    name: str
    family: str
    task: str
    steps: tuple[Step, ...]
    reuses: tuple[Reuse, ...]
    time: int

"""Whole histories of agents, and many of them as one JSON array."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator

from pipeline.synth.agents.apps.task import AppsTask
from pipeline.synth.agents.details import reuses
from pipeline.synth.agents.mini_swe import run
from pipeline.synth.agents.repository.task import RepositoryTask
from pipeline.synth.agents.step import AgentHistory
from pipeline.synth.agents.tables.task import TablesTask
from pipeline.synth.agents.walk import Family, walk
from pipeline.synth.dice import Dice

FAMILIES: dict[str, Callable[[Dice], Family]] = {
    "repository": RepositoryTask,
    "apps": AppsTask,
    "tables": TablesTask,
}
FEWEST, MOST = 60, 250
"""Steps of a history, unless others are asked for."""
LEAST = 10
"""A history of fewer steps has no earlier details to need again."""
_TIMES = (1_704_096_000, 1_735_718_400)


def agent_history(seed: int, index: int, fewest: int = FEWEST, most: int = MOST) -> AgentHistory:
    """A history of `fewest` to `most` steps, with the truth of what it needs again.

    Depends on nothing but its arguments. Raises ValueError when fewest < LEAST, most < fewest or index < 0.
    """
    if not LEAST <= fewest <= most or index < 0:
        raise ValueError(
            f"a history of an agent has {LEAST} steps or more, at most as many as at least, and an index from 0: "
            f"{fewest=}, {most=}, {index=}"
        )
    key = f"slatemill-synth-agent/{seed}/{index}/{fewest}-{most}"
    dice = Dice(key)
    name = dice.pick([*FAMILIES])
    steps, time = dice.between(fewest, most), dice.between(*_TIMES)
    family = FAMILIES[name](dice)
    done = walk(dice, family, steps)
    digest = hashlib.sha256(key.encode()).hexdigest()
    return AgentHistory(f"{name}-{digest[:12]}", name, family.task, tuple(done), tuple(reuses(family.task, done)), time)


def json_chunks(histories: int, seed: int, fewest: int = FEWEST, most: int = MOST) -> Iterator[bytes]:
    """The bytes of a JSON array of runs 0 to histories - 1, one a line; at most one is in memory."""
    yield b"[\n"
    for index in range(histories):
        end = ",\n" if index + 1 < histories else "\n"
        yield (json.dumps(run(agent_history(seed, index, fewest, most)), ensure_ascii=False) + end).encode()
    yield b"]\n"

"""`slatemill synth`: generated histories, of chats as a LongMemEval-shaped JSON file, or of agents as runs of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from pipeline.synth import histories as chats
from pipeline.synth.agents import histories as agents

STEPS = f"{agents.FEWEST}-{agents.MOST}"


def synth(out: Path, histories: int, sessions: int, seed: int, requests: int = 1) -> int:
    """Writes the histories to `out` and returns the bytes written; the same arguments write the same bytes."""
    return _write(out, chats.json_chunks(histories=histories, sessions=sessions, seed=seed, requests=requests))


def synth_agents(out: Path, histories: int, steps: tuple[int, int], seed: int) -> int:
    """As `synth`, of agents: each history has that many steps, at least and at most."""
    return _write(out, agents.json_chunks(histories, seed, *steps))


def parse_steps(text: str) -> tuple[int, int]:
    """The fewest and the most steps of `60-250`, or of one number. Raises ValueError."""
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text.strip())
    if not match:
        raise ValueError(f"--steps takes the fewest and the most steps of a history, such as {STEPS}; not {text!r}")
    fewest, most = int(match[1]), int(match[2] or match[1])
    if fewest < agents.LEAST or most < fewest:
        raise ValueError(f"--steps begins at {agents.LEAST} or more and ends no lower, such as {STEPS}; not {text!r}")
    return fewest, most


def _write(out: Path, chunks: Iterable[bytes]) -> int:
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("wb") as stream:
        return sum(stream.write(chunk) for chunk in chunks)

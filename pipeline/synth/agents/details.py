"""Which steps need again what was shown before: found in the texts themselves."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.synth.agents.step import Reuse, Step

SHORTEST = 3
"""Characters of a detail, at least: what is shorter stands anywhere by chance."""


def holds(text: str, detail: str) -> bool:
    """Whether the detail stands in the text, as no part of a longer word or number."""
    at = text.find(detail)
    while at >= 0:
        end = at + len(detail)
        before = at > 0 and _goes_on(text[at - 1], detail[0])
        after = end < len(text) and _goes_on(text[end], detail[-1])
        if not before and not after:
            return True
        at = text.find(detail, at + 1)
    return False


def reuses(task: str, steps: Sequence[Step]) -> list[Reuse]:
    """Every use, in an action, of a detail that an earlier output shows, by step. What the task says is none."""
    first: dict[str, int] = {}
    for number, step in enumerate(steps):
        for detail in step.shows:
            if len(detail) >= SHORTEST and detail not in first and holds(step.output, detail):
                first[detail] = number
    found = []
    for detail, since in first.items():
        users = [at for at in range(since + 1, len(steps)) if holds(steps[at].action, detail)]
        if users and not holds(task, detail):
            found += _of(detail, users, steps)
    return sorted(found, key=lambda reuse: (reuse.used, reuse.text))


def _of(detail: str, users: Sequence[int], steps: Sequence[Step]) -> list[Reuse]:
    before = steps[: users[-1]]
    shown = [number for number, step in enumerate(before) if holds(step.output, detail)]
    told = [number for number, step in enumerate(before) if holds(step.thought, detail)]
    holding = sorted({*shown, *told, *users})
    return [
        Reuse(
            detail, used, tuple(number for number in shown if number < used), max(at for at in holding if at < used)
        )
        for used in users
    ]  # fmt: skip


def _goes_on(neighbour: str, end: str) -> bool:
    return end.isalnum() and (neighbour.isalnum() or neighbour == "_")

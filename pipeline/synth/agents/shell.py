"""Steps in a shell, as mini-swe-agent logs them."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.synth.agents.step import Step


def shell(command: str, output: str, thought: str = "", shows: Iterable[str] = (), code: int = 0) -> Step:
    """A command of bash with what it printed and its exit code."""
    told = f"<returncode>{code}</returncode>\n<output>\n{output}\n</output>"
    return Step(thought, "bash", {"command": command}, told, tuple(shows))


def script(body: str, to: str = "python -") -> str:
    """A command that feeds lines to a program."""
    return f"{to} <<'EOF'\n{body}\nEOF"

"""A check of this machine, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from models.tracking import without_password

State = Literal["ok", "warning", "fails"]

_LONGEST = 500
_OURS = ("cluster", "jobs", "models", "pipeline")


@dataclass(frozen=True)
class Found:
    """What a check found, in a line, and what to do about it where it is not `ok`."""

    state: State
    said: str
    to_do: str = ""


@dataclass(frozen=True)
class Check:
    """One thing to look at. `needed`: without it the profile does not work."""

    name: str
    needed: bool
    look: Callable[[], Found]


@dataclass(frozen=True)
class Finding:
    """A check that was made."""

    name: str
    needed: bool
    state: State
    said: str
    to_do: str

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, by the names above."""
        return asdict(self)


def brief(error: Exception) -> str:
    """What an error says, in a line, without passwords."""
    return without_password(" ".join(str(error).split()))[:_LONGEST] or "no message"


def examine(checks: Iterable[Check]) -> Iterator[Finding]:
    """Makes each check, whatever became of those before: one that raises has failed, and says what was raised."""
    for check in checks:
        try:
            found = check.look()
        except Exception as error:
            found = _failed(error)
        yield Finding(check.name, check.needed, found.state, found.said, found.to_do)


def works(findings: Iterable[Finding]) -> bool:
    """Whether nothing that is needed fails."""
    return not any(finding.needed and finding.state == "fails" for finding in findings)


def _failed(error: Exception) -> Found:
    said = brief(error)
    if type(error).__module__.partition(".")[0] in _OURS:
        return Found("fails", said)  # our own errors say what to do
    return Found("fails", f"{type(error).__name__}: {said}", "mend what it says, and ask doctor again")

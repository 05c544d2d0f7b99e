"""What a shard's output depends on: whole, as the stamp, and in parts, so that a plan can say what has changed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from cluster.fingerprint import fingerprint

_DIGITS = 12
"""Of a part's digest: to tell what has changed. What is up to date is told by the whole stamp."""


class Cause(StrEnum):
    """Why a shard is to be done, or cannot be."""

    NEW = "new"
    """It was never made: a new arrival."""
    CHOICE = "choice"
    """It was made under another choice of its table (a model, a profile), and not under this one."""
    VERSION = "version"
    """The stage's version."""
    CONFIG = "config"
    """Keys of the stage's configuration."""
    MODEL = "model"
    """The identity of a model: its name, its weights, how it is used."""
    INPUT = "input"
    """What an input holds."""
    QUARANTINE = "quarantine"
    """The units that bisection had taken out."""
    UPSTREAM = "upstream"
    """An input that is itself to be done, or cannot be."""
    UNKNOWN = "unknown"
    """The file does not say what it was made of."""


class Reason(NamedTuple):
    """A cause, and what it names: keys of the configuration, or inputs."""

    cause: Cause
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Parts:
    """All that decides a shard's output. `inputs` are digests by input name; one that is not known yet is left out."""

    stage: str
    version: int
    config: Mapping[str, Any]
    identities: tuple[str, ...]
    inputs: Mapping[str, str]
    crashed: str

    @property
    def stamp(self) -> str:
        """sha256 over all parts: what an output must carry to be up to date. Needs every input."""
        return fingerprint(
            {
                "stage": self.stage,
                "version": self.version,
                "config": dict(self.config),
                "identities": list(self.identities),
                "inputs": dict(self.inputs),
                "crashed": self.crashed,
            }
        )

    def note(self) -> str:
        """The parts as a small JSON text of digests, which an output carries beside its stamp."""
        return json.dumps(self._digests(), sort_keys=True, separators=(",", ":"))

    def changes(self, note: str) -> tuple[Reason, ...]:
        """What differs from the note of a file that is there; of inputs, among those known here only."""
        if not note:
            return (Reason(Cause.UNKNOWN),)
        then, now = json.loads(note), self._digests()
        found = []
        if then["version"] != now["version"]:
            found.append(Reason(Cause.VERSION))
        if keys := _differing(then["config"], now["config"], {*then["config"], *now["config"]}):
            found.append(Reason(Cause.CONFIG, keys))
        if then["identities"] != now["identities"]:
            found.append(Reason(Cause.MODEL))
        if names := _differing(then["inputs"], now["inputs"], now["inputs"]):
            found.append(Reason(Cause.INPUT, names))
        if then["crashed"] != now["crashed"]:
            found.append(Reason(Cause.QUARANTINE))
        return tuple(found)

    def _digests(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "config": {key: _short(value) for key, value in flat(self.config)},
            "identities": _short(list(self.identities)),
            "inputs": {name: digest[:_DIGITS] for name, digest in self.inputs.items()},
            "crashed": self.crashed[:_DIGITS],
        }


def flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The keys of a configuration with their values, those of an inner mapping as `outer.inner`."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _short(value: Any) -> str:
    return fingerprint(value)[:_DIGITS]


def _differing(then: Mapping[str, str], now: Mapping[str, str], names: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if then.get(name) != now.get(name)))

"""What may be chosen about reading a source: which items, which requests to make, and under which keys things stand."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from pipeline.ingest.errors import IngestError

_POSITIONS = re.compile(r"(\d+)(?:-(\d+))?")

Requests = Literal["last", "every-step", "none"]
"""Which requests are made of a log that asks none itself: for what came last, for every step or question, or none."""

KEYS = ("history", "session", "time")
"""What may be looked up under a key of the user's own: `history=user.id`."""

FLAGS = {"items": "--items", "requests": "--requests", "keys": "--key"}
"""How the command line calls the options."""


class Items:
    """The choice of items, which remembers what it has met.

    Written `0-2,5,conv-26`: positions (from 0) in the top-level array or among the lines of each file, ranges with both
    ends, ids. `id:7` is the id "7". Without a choice every item is wanted.
    """

    def __init__(self, chosen: str | None = None) -> None:
        self._ranges: list[tuple[int, int]] = []
        self._ids: set[str] = set()
        self._everything = chosen is None
        for part in (part.strip() for part in (chosen or "").split(",")):
            match = _POSITIONS.fullmatch(part)
            if match:
                self._ranges.append((int(match[1]), int(match[2] or match[1])))
            elif part:
                self._ids.add(part.removeprefix("id:"))
        if not self._everything and not self._ranges and not self._ids:
            raise IngestError("option items is empty: give positions or ids, such as 0-2,5")
        for first, last in self._ranges:
            if first > last:
                raise IngestError(f"option items: the range {first}-{last} is empty")
        self._missing_ids = set(self._ids)
        self._seen = 0

    def wants(self, position: int, ids: Iterable[str]) -> bool:
        """Whether the item at `position`, which bears `ids`, is wanted."""
        self._seen = max(self._seen, position + 1)
        named = self._ids.intersection(ids)
        self._missing_ids -= named
        return self._everything or bool(named) or any(first <= position <= last for first, last in self._ranges)

    def require_found(self) -> None:
        """Raises IngestError when the source has ended and something that was chosen was not in it."""
        missing = sorted(self._missing_ids) + [str(last) for _, last in self._ranges if last >= self._seen]
        if missing:
            raise IngestError(f"option items names what the source, of {self._seen} items, lacks: {', '.join(missing)}")


@dataclass(frozen=True)
class Options:
    """What a reader is told: `items` that are wanted, `requests` to make, and `keys` by what they lead to (KEYS)."""

    items: Items = field(default_factory=Items)
    requests: Requests = "last"
    keys: Mapping[str, str] = field(default_factory=dict)


def parse_options(options: Mapping[str, Any], allowed: Iterable[str]) -> Options:
    """Options from plain literals: `items` (text), `requests` (text), `keys` (a mapping).

    `allowed` are those of the format. Raises IngestError for an option that is unknown, that the format does not take,
    or whose value says nothing.
    """
    known = ("items", *allowed)
    for name in options:
        if name in FLAGS and name not in known:
            takes = " and ".join(FLAGS[option] for option in known)
            raise IngestError(f"the format takes no {FLAGS[name]}; it takes {takes}")
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]
            raise IngestError(f"there is no option {name}; did you mean {near}? There are {', '.join(known)}")
    chosen = options.get("items")
    requests = options.get("requests", "last")
    if requests not in get_args(Requests):
        raise IngestError(f"--requests is one of {', '.join(get_args(Requests))}, not {requests!r}")
    keys = dict(options.get("keys", {}))
    for name, key in keys.items():
        if name not in KEYS or not str(key).strip("."):
            raise IngestError(
                f"--key {name}={key}: the left side must be {', '.join(KEYS[:-1])} or {KEYS[-1]}, the right side where "
                "it stands in the source, such as history=user.id"
            )
    return Options(Items(None if chosen is None else str(chosen)), requests, keys)

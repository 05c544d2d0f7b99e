"""Which items of a source are wanted: by position, by range of positions, or by id."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.ingest.errors import IngestError

OPTIONS = ("items",)
_POSITIONS = re.compile(r"(\d+)(?:-(\d+))?")


class Items:
    """The choice of items, which remembers what it has met.

    Written `0-2,5,conv-26`: positions (from 0) in the top-level array or among the lines, ranges with both ends, ids.
    `id:7` is the id "7". Without a choice every item is wanted.
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


def parse_options(options: Mapping[str, Any]) -> Items:
    """The choice of items in `options`. Raises IngestError for an unknown option or a value that says nothing."""
    for name in options:
        if name not in OPTIONS:
            near = difflib.get_close_matches(name, OPTIONS, n=1, cutoff=0.0)[0]
            raise IngestError(f"unknown option {name}; did you mean {near}? Known: {', '.join(OPTIONS)}")
    chosen = options.get("items")
    return Items(None if chosen is None else str(chosen))

"""The formats that can be ingested. A new one: a module with a function that yields histories, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO

from pipeline.ingest import locomo, longmemeval, native
from pipeline.ingest.arrival import Arrival
from pipeline.ingest.errors import IngestError
from pipeline.ingest.options import Items, parse_options
from pipeline.ingest.source import Refused, SourceHistory
from pipeline.ingest.staging import Staging

Reader = Callable[[BinaryIO, Items], Iterator[SourceHistory | Refused]]

ARRIVAL_CHARACTERS = 8_000_000
"""An arrival is closed once its turns hold so many characters. One item is never divided."""

_READERS: dict[str, Reader] = {
    "locomo": locomo.read,
    "longmemeval": longmemeval.read,
    "native": native.read,
}


def _arrivals(source_format: str, stream: BinaryIO, options: Mapping[str, Any]) -> Iterator[Arrival]:
    """Reads a binary stream to its end in bounded memory. Raises IngestError.

    The error may come after arrivals were handed out (a file cut short, an item asked for that is not there): nothing
    may be committed before the iterator has ended.
    """
    items = parse_options(options)
    staging = Staging(source_format)
    first_refusal: Refused | None = None
    readable = False
    for entry in _READERS[source_format](stream, items):
        if isinstance(entry, Refused):
            first_refusal = first_refusal or entry
            staging.refuse(entry)
        else:
            readable = True
            staging.add(entry)
        if staging.characters >= ARRIVAL_CHARACTERS:
            yield staging.arrival()
            staging = Staging(source_format)
    items.require_found()
    if first_refusal and not readable:
        raise IngestError(f"nothing here is {source_format}: {first_refusal.place}: {first_refusal.reason}")
    yield staging.arrival()


FORMATS: dict[str, Callable[[BinaryIO, Mapping[str, Any]], Iterator[Arrival]]] = {
    name: partial(_arrivals, name) for name in _READERS
}
"""By name: `(stream, options) -> arrivals`. The option of every format is `items`, see pipeline.ingest.options."""

"""The formats that can be ingested. A new one: a module that reads and recognises it, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.ingest import (
    chatgpt,
    evermemos,
    letta,
    locomo,
    longmemeval,
    memsim,
    mini_swe_agent,
    native,
    openai_chat,
    openhands,
    realtalk,
    sharegpt,
    swe_agent,
)
from pipeline.ingest.arrival import Arrival
from pipeline.ingest.errors import IngestError
from pipeline.ingest.options import Options, parse_options
from pipeline.ingest.sample import Sample
from pipeline.ingest.source import Document, Refused, SourceHistory
from pipeline.ingest.staging import Staging

ARRIVAL_CHARACTERS = 8_000_000
"""An arrival is closed once its rows, of all tables, hold about so many characters. One item is never divided."""


@dataclass(frozen=True)
class Format:
    """One format: what reads a document of it, what tells its own from others, and what it may be told.

    `read` yields histories one at a time and raises IngestError for a document that is not of the format. `recognises`
    looks at the first records of a document. `options` are those beyond `items`. `by_name`: a history may be called
    after its file. `of_agents`: turns are the steps of a task.
    """

    read: Callable[[Document, Options], Iterator[SourceHistory | Refused]]
    recognises: Callable[[Sample], bool]
    options: tuple[str, ...] = ()
    by_name: bool = False
    of_agents: bool = False


FORMATS: dict[str, Format] = {
    "chatgpt": Format(chatgpt.read, chatgpt.recognises, options=("requests", "keys"), by_name=True),
    "evermemos": Format(evermemos.read, evermemos.recognises, options=("requests",), by_name=True),
    "letta": Format(letta.read, letta.recognises, options=("requests", "keys"), by_name=True),
    "locomo": Format(locomo.read, locomo.recognises, by_name=True),
    "longmemeval": Format(longmemeval.read, longmemeval.recognises),
    "memsim": Format(memsim.read, memsim.recognises, by_name=True),
    "mini-swe-agent": Format(
        mini_swe_agent.read, mini_swe_agent.recognises, options=("requests",), by_name=True, of_agents=True
    ),
    "native": Format(native.read, native.recognises),
    "openai-chat": Format(
        openai_chat.read, openai_chat.recognises, options=("requests", "keys"), by_name=True, of_agents=True
    ),
    "openhands": Format(openhands.read, openhands.recognises, options=("requests",), by_name=True, of_agents=True),
    "realtalk": Format(realtalk.read, realtalk.recognises, by_name=True),
    "sharegpt": Format(sharegpt.read, sharegpt.recognises, options=("requests", "keys"), by_name=True),
    "swe-agent": Format(swe_agent.read, swe_agent.recognises, options=("requests",), by_name=True, of_agents=True),
}

AGENT_FORMATS = tuple(name for name, known in FORMATS.items() if known.of_agents)
"""Formats whose histories are runs of agents."""


def arrivals(source_format: str, documents: Iterable[Document], options: Mapping[str, Any]) -> Iterator[Arrival]:
    """Reads all documents of a source to their ends, in bounded memory.

    Raises IngestError, which may come after arrivals were handed out (a file cut short, an item asked for that is not
    there): nothing may be committed before the iterator has ended.
    """
    known = FORMATS[source_format]
    parsed = parse_options(options, known.options)
    staging = Staging(source_format)
    for document in documents:
        staging.begin(document.name)
        yield from _of_document(source_format, document, parsed, staging)
    parsed.items.require_found()
    yield staging.take()


def _entries(source_format: str, document: Document, options: Options) -> Iterator[SourceHistory | Refused]:
    try:
        yield from FORMATS[source_format].read(document, options)
    except IngestError as error:
        raise error.of_file(document.name) from error


def _of_document(source_format: str, document: Document, options: Options, staging: Staging) -> Iterator[Arrival]:
    """Arrivals that one document fills; what is left stays staged."""
    first_refusal: Refused | None = None
    readable = False
    for entry in _entries(source_format, document, options):
        _refuse_lost(document, staging)
        if isinstance(entry, Refused):
            first_refusal = first_refusal or entry
            staging.refuse(entry)
        else:
            readable = True
            staging.add(entry)
        if staging.characters >= ARRIVAL_CHARACTERS:
            yield staging.take()
    _refuse_lost(document, staging)
    if first_refusal and not readable:
        raise IngestError(
            f"nothing in {document.name} is {source_format}: {first_refusal.place}: {first_refusal.reason}"
        )


def _refuse_lost(document: Document, staging: Staging) -> None:
    """Puts aside what was lost within records that were read all the same."""
    for refused in document.lost:
        staging.refuse(refused)
    document.lost.clear()

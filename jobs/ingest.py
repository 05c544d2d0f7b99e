"""`slatemill ingest`: one source file becomes one batch of turns, sources, requests and labels."""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.compute as pc

from cluster import tables
from cluster.batches import Batch, Claim, claim, commit, committed, void
from cluster.fingerprint import fingerprint
from cluster.lake import Lake
from cluster.parallel import each
from cluster.progress import shown
from cluster.report import StageReport
from jobs.names import near_names
from jobs.reach import NotReached
from jobs.sources import File, files_of, source_digest
from jobs.spool import Spool, parts_of_bucket
from models.tokens import token_counter
from pipeline import schemas
from pipeline.ingest.arrival import Arrival
from pipeline.ingest.codes import Code
from pipeline.ingest.detect import detect
from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import FORMATS, arrivals
from pipeline.ingest.options import parse_options
from pipeline.ingest.settle import settle
from pipeline.ingest.source import Document

INGEST = "ingest"
"""What the quarantine of this job is called in the lake."""

_TABLES = {
    "turns": schemas.TURNS,
    "sources": schemas.SOURCES,
    "requests": schemas.REQUESTS,
    "labels": schemas.LABELS,
}
AUTO = "auto"
"""The format that is to be found out."""

SIDE_BY_SIDE = 20_000
"""From so many turns on, storing on several cores is worth the start of Ray."""

_MEGABYTE = 1_000_000
_STORED = ("sources", "requests", "labels")
"""What must be known of earlier batches."""

_QUARANTINE = {"quarantine": schemas.QUARANTINE}

NAMED = 3
"""Histories without a turn that are named; where there are more, none is looked up."""

_FEW_TURNS = 2_000_000
"""Turns of a lake up to which its histories are looked through for one that is not stored."""


@dataclass
class IngestReport:
    """What one source brought: the batch, its format, whether it was there before, counts by name, and rows lost.

    `unheard`: histories that requests came for and no turn is stored of, each with the ids of the lake's most like it.
    """

    batch: Batch
    source_format: str
    already: bool
    counts: dict[str, int] = field(default_factory=dict)
    lost: int = 0
    unheard: dict[str, list[str]] = field(default_factory=dict)

    @property
    def lost_share(self) -> float:
        """Lost rows over rows that arrived."""
        arrived = ("turns", "requests", "repeated_turns", "repeated_requests")
        return self.lost / max(1, self.lost + sum(self.counts.get(name, 0) for name in arrived))

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON. What was there before is not judged again: what says so of it is null."""
        return {
            "batch": self.batch.name,
            "format": self.source_format,
            "already": self.already,
            "counts": dict(sorted(self.counts.items())),
            "lost": None if self.already else self.lost,
            "lost_share": None if self.already else self.lost_share,
            "unheard": None if self.already else self.unheard,
        }


def ingest(
    lake: Lake, source: str, source_format: str, options: Mapping[str, Any], workers: int | None = None
) -> IngestReport:
    """Stores one source (a file, a folder or a glob) as a batch; the same bytes with the same options are a no-op.

    `source_format` may be `auto`. With much to store, buckets are stored side by side on `workers` cores.
    Raises IngestError when the bytes are not of the format, BatchInProgress when another batch is uncommitted,
    FileNotFoundError when there is no such file, NotReached when a store does not give it.
    """
    files = files_of(source)
    if source_format == AUTO:
        source_format = detect_format(files)
    known = FORMATS[source_format]
    parse_options(options, known.options)
    contents = source_digest(files, with_names=known.by_name or len(files) > 1)
    ticket = claim(lake, fingerprint({"files": contents, "format": source_format, "options": dict(options)}))
    if ticket.already is not None:
        return IngestReport(ticket.already, source_format, already=True, counts=dict(ticket.already.counts))
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="slatemill-ingest-") as folder:
        spool = Spool(Path(folder), lake)
        try:
            for arrival in _arrivals(files, source_format, options):
                spool.add(arrival)
                counts.update(arrival.counts)
        except (IngestError, NotReached):
            # Nothing of it was written, and no other source shall wait for what can never be finished.
            void(lake)
            raise
        lost = 0
        unheard: list[str] = []
        with shown(StageReport("store", total=len(spool.buckets), unit="buckets"), "ingest") as advance:
            for done, settled in enumerate(_settle_all(lake, ticket, spool, workers), start=1):
                counts.update(settled.counts)
                lost += settled.lost
                unheard += settled.unheard
                advance(done)
        batch = commit(lake, ticket, spool.buckets, dict(counts))
    near = _near_histories(lake, unheard)
    return IngestReport(batch, source_format, already=False, counts=dict(counts), lost=lost, unheard=near)


def detect_format(files: Sequence[File]) -> str:
    """The format that all files have. Raises IngestError where one has none, or they have several."""
    found: dict[str, str] = {}
    for file in files:
        with file.document() as (document, _):
            found.setdefault(detect(document), file.name)
    if len(found) > 1:
        named = ", ".join(f"{name} ({file})" for name, file in sorted(found.items()))
        raise IngestError(f"the source holds files of several formats: {named}. Ingest them one format at a time")
    return next(iter(found))


def _arrivals(files: Sequence[File], source_format: str, options: Mapping[str, Any]) -> Iterator[Arrival]:
    """Chunks of a source; shows how much of its bytes has been read."""
    size = sum(file.size for file in files)
    read = 0
    stream: Any = None

    def documents() -> Iterator[Document]:
        nonlocal read, stream
        for file in files:
            with file.document() as (document, stream):
                yield document
            read, stream = read + file.size, None

    with shown(StageReport("read", total=-(-size // _MEGABYTE), unit="MB"), "ingest") as advance:
        for arrival in arrivals(source_format, documents(), options):
            yield arrival
            advance((read + (stream.tell() if stream is not None else 0)) // _MEGABYTE)
        advance(-(-size // _MEGABYTE))


def _near_histories(lake: Lake, unheard: Sequence[str]) -> dict[str, list[str]]:
    """Each history with the stored ones most like it; of many, or in a large lake, that is not looked for."""
    near: dict[str, list[str]] = {history: [] for history in sorted(unheard)}
    if not 0 < len(near) <= NAMED or sum(batch.counts.get("turns", 0) for batch in committed(lake)) > _FEW_TURNS:
        return near
    try:
        stored = lake.scan("turns", schema=schemas.TURNS).select(pl.col("history_id").unique()).collect()
    except Exception:  # whatever a disk or store raises: the batch is stored, and a hint is no reason to fail it
        return near
    return {history: near_names(history, stored["history_id"]) for history in near}


@dataclass(frozen=True)
class Stored:
    """What was stored of one bucket: counts, the rows lost, and the histories of requests that have no turn."""

    counts: dict[str, int]
    lost: int
    unheard: list[str]


def _settle_all(lake: Lake, ticket: Claim, spool: Spool, workers: int | None) -> Iterator[Stored]:
    """Stores every bucket: here where there is little, else side by side."""
    tasks = [(lake, ticket, bucket, spool.folder) for bucket in spool.buckets]
    if spool.n_turns < SIDE_BY_SIDE or len(tasks) < 2:
        return itertools.starmap(settle_bucket, tasks)
    return each(settle_bucket, tasks, workers)


def settle_bucket(lake: Lake, ticket: Claim, bucket: int, spooled: Path) -> Stored:
    """Settles what was spooled of one bucket, and writes its files. Runs in a worker, and may be run again.

    Histories are settled part by part, in order: memory holds one part, and the files grow beside what was spooled.
    """
    earlier = [batch for batch in committed(lake) if bucket in batch.buckets and batch.seq < ticket.seq]
    paths = {name: [lake.path(name, bucket, batch.name) for batch in earlier] for name in _STORED}
    marks = [tables.read_mark(lake.storage, path) for name in _STORED for path in paths[name]]
    stamp = fingerprint(
        {
            "stage": INGEST,
            "version": 1,
            "source": ticket.digest,
            "seq": ticket.seq,
            "tokenizer": lake.tokenizer,
            "stored": [mark.digest for mark in marks if mark],
        }
    )
    counter = token_counter(lake.tokenizer)
    counts: Counter[str] = Counter()
    lost = 0
    unheard: set[str] = set()
    with ExitStack() as open_files:
        files = {
            name: tables.Encoder(open_files.enter_context(tempfile.TemporaryFile(dir=spooled)), schema, stamp)
            for name, schema in {**_TABLES, **_QUARANTINE}.items()
        }
        for histories, arrival in parts_of_bucket(spooled, bucket):
            sources, requests, labels = (
                tables.read(lake.storage, paths[name], _TABLES[name], histories) for name in _STORED
            )
            settled = settle([arrival], ticket.seq, sources, requests, labels, counter)
            counts.update(settled.counts)
            lost += pc.sum(settled.quarantine["weight"]).as_py() or 0
            of_nothing = pc.equal(settled.quarantine["code"], Code.NO_TURNS.value)
            unheard.update(settled.quarantine.filter(of_nothing)["history_id"].to_pylist())
            for name, file in files.items():
                file.add(getattr(settled, name))
        for name, file in files.items():
            mark = file.finish()
            if name in _TABLES:
                path = lake.path(name, bucket, ticket.name)
            elif mark.rows:
                path = lake.quarantine_path(INGEST, bucket, ticket.name)
            else:
                continue
            tables.publish_encoded(lake.storage, path, file.stream, mark)
    return Stored(dict(counts), lost, sorted(unheard))

"""`slatemill ingest`: one source file becomes one batch of turns, sources, requests and labels."""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cluster import tables
from cluster.batches import Batch, Claim, claim, commit, committed, void
from cluster.fingerprint import fingerprint
from cluster.lake import Lake
from cluster.parallel import each
from cluster.progress import shown
from cluster.report import StageReport
from jobs.sources import File, files_of, source_digest
from models.tokens import token_counter
from pipeline import schemas
from pipeline.ingest.arrival import Arrival
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
_STAGED = ("turns", "requests", "citations", "quarantine")


@dataclass
class IngestReport:
    """What one source brought: the batch, its format, whether it was there before, counts by name, and rows lost."""

    batch: Batch
    source_format: str
    already: bool
    counts: dict[str, int] = field(default_factory=dict)
    lost: int = 0

    @property
    def lost_share(self) -> float:
        """Lost rows over rows that arrived."""
        arrived = ("turns", "requests", "repeated_turns", "repeated_requests")
        return self.lost / max(1, self.lost + sum(self.counts.get(name, 0) for name in arrived))


def ingest(
    lake: Lake, source: str, source_format: str, options: Mapping[str, Any], workers: int | None = None
) -> IngestReport:
    """Stores one source (a file, a folder or a glob) as a batch; the same bytes with the same options are a no-op.

    `source_format` may be `auto`. With much to store, buckets are stored side by side on `workers` cores.
    Raises IngestError when the bytes are not of the format, BatchInProgress when another batch is uncommitted,
    FileNotFoundError when there is no such file.
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
        except IngestError:
            # Nothing of it was written, and no other source shall wait for what can never be finished.
            void(lake)
            raise
        lost = 0
        with shown(StageReport("store", total=len(spool.buckets), unit="buckets"), "ingest") as advance:
            for done, settled in enumerate(_settle_all(lake, ticket, spool, workers), start=1):
                counts.update(settled.counts)
                lost += settled.lost
                advance(done)
        batch = commit(lake, ticket, spool.buckets, dict(counts))
    return IngestReport(batch, source_format, already=False, counts=dict(counts), lost=lost)


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


@dataclass(frozen=True)
class Stored:
    """What was stored of one bucket: counts, and the rows lost."""

    counts: dict[str, int]
    lost: int


def _settle_all(lake: Lake, ticket: Claim, spool: Spool, workers: int | None) -> Iterator[Stored]:
    """Stores every bucket: here where there is little, else side by side."""
    tasks = [(lake, ticket, bucket, spool.folder) for bucket in spool.buckets]
    if spool.n_turns < SIDE_BY_SIDE or len(tasks) < 2:
        return itertools.starmap(settle_bucket, tasks)
    return each(settle_bucket, tasks, workers)


def settle_bucket(lake: Lake, ticket: Claim, bucket: int, spooled: Path) -> Stored:
    """Settles what was spooled of one bucket, and writes its files. Runs in a worker, and may be run again."""
    arrival = spooled_arrival(spooled, bucket)
    histories = pc.unique(
        pa.concat_arrays([*arrival.turns["history_id"].chunks, *arrival.requests["history_id"].chunks])
    ).to_pylist()
    earlier = [batch for batch in committed(lake) if bucket in batch.buckets and batch.seq < ticket.seq]

    def stored(table: str, schema: pa.Schema) -> tuple[pa.Table, list[str]]:
        paths = [lake.path(table, bucket, batch.name) for batch in earlier]
        marks = [tables.read_mark(lake.storage, path) for path in paths]
        return tables.read(lake.storage, paths, schema, histories), [mark.digest for mark in marks if mark]

    sources, source_digests = stored("sources", schemas.SOURCES)
    requests, request_digests = stored("requests", schemas.REQUESTS)
    labels, label_digests = stored("labels", schemas.LABELS)
    settled = settle([arrival], ticket.seq, sources, requests, labels, token_counter(lake.tokenizer))
    stamp = fingerprint(
        {
            "stage": INGEST,
            "version": 1,
            "source": ticket.digest,
            "seq": ticket.seq,
            "tokenizer": lake.tokenizer,
            "stored": [*source_digests, *request_digests, *label_digests],
        }
    )
    if settled.quarantine.num_rows:
        path = lake.quarantine_path(INGEST, bucket, ticket.name)
        tables.publish(lake.storage, path, settled.quarantine, schemas.QUARANTINE, stamp)
    for table, schema in _TABLES.items():
        tables.publish(lake.storage, lake.path(table, bucket, ticket.name), getattr(settled, table), schema, stamp)
    return Stored(settled.counts, pc.sum(settled.quarantine["weight"]).as_py() or 0)


def spooled_arrival(folder: Path, bucket: int) -> Arrival:
    """Everything that was spooled of one bucket, in the order in which it came."""

    def read(name: str) -> Iterator[pa.Table]:
        for path in sorted(folder.glob(f"{bucket}-{name}-*.arrow")):
            with pa.memory_map(str(path)) as mapped:
                yield pa.ipc.open_file(mapped).read_all()

    empty = Arrival.empty()
    return Arrival(**{name: pa.concat_tables([getattr(empty, name), *read(name)]) for name in _STAGED})


class Spool:
    """Arrivals on their way to their buckets, on local disk: memory holds one chunk, then one bucket."""

    def __init__(self, folder: Path, lake: Lake) -> None:
        self.folder = folder
        self.n_turns = 0
        self._lake = lake
        self._chunks = 0
        self._buckets: set[int] = set()

    @property
    def buckets(self) -> list[int]:
        """The buckets that anything arrived for."""
        return sorted(self._buckets)

    def add(self, arrival: Arrival) -> None:
        """Splits one chunk by bucket. What names no history (an unreadable item) goes to bucket 0."""
        self._chunks += 1
        self.n_turns += arrival.turns.num_rows
        for name in _STAGED:
            table = getattr(arrival, name)
            if not table.num_rows:
                continue
            histories = table["history_id"]
            distinct = pc.unique(histories).drop_null()
            buckets = pa.array(self._lake.bucket_of(distinct.to_pylist()), pa.int64())
            of_row = pc.fill_null(pc.take(buckets, pc.index_in(histories, distinct)), 0)
            for bucket in pc.unique(of_row).to_pylist():
                self._buckets.add(bucket)
                target = self.folder / f"{bucket}-{name}-{self._chunks:08d}.arrow"
                part = table.filter(pc.equal(of_row, bucket))
                with pa.ipc.new_file(str(target), part.schema) as writer:
                    writer.write_table(part)

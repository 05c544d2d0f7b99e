"""`slatemill ingest`: one source file becomes one batch of turns, sources, requests and labels."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.compute as pc

from cluster import tables
from cluster.batches import Batch, Claim, claim, commit, committed, void
from cluster.fingerprint import fingerprint
from cluster.lake import Lake
from cluster.progress import shown
from cluster.report import StageReport
from models.tokens import token_counter
from pipeline import schemas
from pipeline.ingest.arrival import Arrival
from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import FORMATS
from pipeline.ingest.settle import Settled, settle

INGEST = "ingest"
"""What the quarantine of this job is called in the lake."""

_TABLES = {
    "turns": schemas.TURNS,
    "sources": schemas.SOURCES,
    "requests": schemas.REQUESTS,
    "labels": schemas.LABELS,
}
_MEGABYTE = 1_000_000
_STAGED = ("turns", "requests", "citations", "quarantine")


@dataclass
class IngestReport:
    """What one source brought: the batch, whether it was there before, counts by name, and the rows lost."""

    batch: Batch
    already: bool
    counts: dict[str, int] = field(default_factory=dict)
    lost: int = 0

    @property
    def lost_share(self) -> float:
        """Lost rows over rows that arrived."""
        arrived = ("turns", "requests", "repeated_turns", "repeated_requests")
        return self.lost / max(1, self.lost + sum(self.counts.get(name, 0) for name in arrived))


def ingest(lake: Lake, source: str, source_format: str, options: Mapping[str, Any]) -> IngestReport:
    """Stores one source as a batch; the same bytes with the same options again are a no-op.

    Raises IngestError when the bytes are not of the format, BatchInProgress when another batch is uncommitted.
    """
    digest = fingerprint({"bytes": _digest(source), "format": source_format, "options": dict(options)})
    ticket = claim(lake, digest)
    if ticket.already is not None:
        return IngestReport(ticket.already, already=True, counts=dict(ticket.already.counts))
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="slatemill-ingest-") as folder:
        spool = Spool(Path(folder), lake)
        try:
            for arrival in _arrivals(source, source_format, options):
                spool.add(arrival)
                counts.update(arrival.counts)
        except IngestError:
            # Nothing of it was written, and no other source shall wait for what can never be finished.
            void(lake)
            raise
        lost = 0
        with shown(StageReport("store", total=len(spool.buckets), unit="buckets"), "ingest") as advance:
            for done, bucket in enumerate(spool.buckets, start=1):
                settled = _settle_bucket(lake, ticket, bucket, spool.arrival(bucket))
                counts.update(settled.counts)
                lost += sum(settled.quarantine["weight"].to_pylist())
                advance(done)
        batch = commit(lake, ticket, spool.buckets, dict(counts))
    return IngestReport(batch, already=False, counts=dict(counts), lost=lost)


def _arrivals(source: str, source_format: str, options: Mapping[str, Any]) -> Iterator[Arrival]:
    """Chunks of a source; shows how much of its bytes has been read."""
    opened = fsspec.open(source, "rb")
    size = -(-opened.fs.size(opened.path) // _MEGABYTE)
    with opened as stream, shown(StageReport("read", total=size, unit="MB"), "ingest") as advance:
        for arrival in FORMATS[source_format](stream, options):
            yield arrival
            advance(min(stream.tell() // _MEGABYTE, size))
        advance(size)


def _settle_bucket(lake: Lake, ticket: Claim, bucket: int, arrival: Arrival) -> Settled:
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
    settled = settle([arrival], ticket.seq, sources, requests, token_counter(lake.tokenizer))
    stamp = fingerprint(
        {
            "stage": INGEST,
            "version": 1,
            "source": ticket.digest,
            "seq": ticket.seq,
            "tokenizer": lake.tokenizer,
            "stored": [*source_digests, *request_digests],
        }
    )
    if settled.quarantine.num_rows:
        path = lake.quarantine_path(INGEST, bucket, ticket.name)
        tables.publish(lake.storage, path, settled.quarantine, schemas.QUARANTINE, stamp)
    for table, schema in _TABLES.items():
        tables.publish(lake.storage, lake.path(table, bucket, ticket.name), getattr(settled, table), schema, stamp)
    return settled


class Spool:
    """Arrivals on their way to their buckets, on local disk: memory holds one chunk, then one bucket."""

    def __init__(self, folder: Path, lake: Lake) -> None:
        self._folder = folder
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
                target = self._folder / f"{bucket}-{name}-{self._chunks:08d}.arrow"
                part = table.filter(pc.equal(of_row, bucket))
                with pa.ipc.new_file(str(target), part.schema) as writer:
                    writer.write_table(part)

    def arrival(self, bucket: int) -> Arrival:
        """Everything of one bucket, in the order in which it came."""
        empty = Arrival.empty()
        parts = {name: list(self._read(bucket, name)) for name in _STAGED}
        return Arrival(
            **{name: pa.concat_tables(parts[name] or [getattr(empty, name)]) for name in _STAGED},
        )

    def _read(self, bucket: int, name: str) -> Iterator[pa.Table]:
        for path in sorted(self._folder.glob(f"{bucket}-{name}-*.arrow")):
            with pa.memory_map(str(path)) as mapped:
                yield pa.ipc.open_file(mapped).read_all()


def _digest(source: str) -> str:
    with fsspec.open(source, "rb") as stream:
        running = hashlib.sha256()
        while block := stream.read(1 << 20):
            running.update(block)
    return running.hexdigest()

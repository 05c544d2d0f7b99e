"""`slatemill rankings import`: what another system ranked becomes a policy, filled and evaluated beside ours."""

from __future__ import annotations

import difflib
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from cluster import tables
from cluster.batches import Batch, committed
from cluster.cache import MarkCache
from cluster.errors import LakeError
from cluster.fingerprint import fingerprint
from cluster.lake import Lake
from cluster.progress import shown
from cluster.report import StageReport
from jobs.rankings import RANKINGS, Imported, content_of, imported, is_whole, record_path
from jobs.sources import File, files_of, source_digest
from pipeline import schemas
from pipeline.ingest.errors import IngestError
from pipeline.memory.llm_designs.names import LLM_POLICIES
from pipeline.memory.registry import MEMORY_POLICIES
from pipeline.policies.registry import known_policies, why_unknown
from pipeline.rankings.resolve import Resolved, place, resolve
from pipeline.rankings.rows import OPTIONAL, REQUIRED, ROWS, require_columns, rows_of
from pipeline.recall.options import CHANNEL_NAMES

_VERSION = 2
_READ = {
    "requests": (schemas.REQUESTS, None),
    "sources": (schemas.SOURCES, None),
    "turns": (schemas.TURNS, [*schemas.TURN_KEY, "session_time"]),
}
"""What names are looked up in: schemas, and the columns that are read (None: all)."""


class NameTaken(LakeError):
    """A ranking cannot be called so."""


@dataclass(frozen=True)
class ImportReport:
    """What came of a file: `counts` has the rows, the turns stored and the requests that they are for, rows whose turn
    the request must not see (unseen) or that name a turn again (repeated), and lost ones by code."""

    name: str
    already: bool
    counts: dict[str, int] = field(default_factory=dict)
    lost: int = 0

    @property
    def lost_share(self) -> float:
        """Lost rows over all."""
        return self.lost / max(1, self.counts["rows"])

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        return {**asdict(self), "counts": dict(sorted(self.counts.items())), "lost_share": self.lost_share}


def import_ranking(lake: Lake, source: str, name: str) -> ImportReport:
    """Stores a ranking (Parquet: a file, a folder or a glob) as the policy `name`; the same bytes again are a no-op.

    Another ranking under the name replaces it, file by file, each in one step; until the last one is written, no run
    takes either. Memory holds the rows of the source, and of one bucket what they mean. Raises NameTaken, IngestError
    where the source is no ranking, LakeError where nothing was ingested or the name cannot be part of a path, and what
    jobs.sources raises.
    """
    _require_free(lake, name)
    batches = committed(lake)
    if not batches:
        raise LakeError(f"{lake.url} holds no request yet: ingest histories and requests, then import their ranking")
    files = files_of(source)
    arrived = [batch.name for batch in batches]
    digest = fingerprint(source_digest(files, with_names=False))
    known = imported(lake, name)
    if known is not None and known.source == digest and is_whole(lake, name, known, batches, MarkCache()):
        return ImportReport(name, True, known.counts, _lost(known.counts))
    rows = pl.concat([pl.DataFrame(schema=ROWS), *(part for file in files for part in _rows(file))])
    counts = _store(lake, name, digest, rows, batches)
    content = content_of(lake, name, batches, None)
    assert content is not None
    record = Imported(digest, arrived, content, counts)
    lake.storage.replace(record_path(lake, name), json.dumps(asdict(record), sort_keys=True).encode())
    return ImportReport(name, False, counts, _lost(counts))


def _store(lake: Lake, name: str, digest: str, rows: pl.DataFrame, batches: Sequence[Batch]) -> dict[str, int]:
    """Writes the ranking, and its quarantine, of every bucket and batch; returns the counts of ImportReport."""
    placed, lost = place(rows, _asked(lake, batches, rows["request_id"]))
    counts = Counter(rows=rows.height, turns=0, requests=0, **_by_code(lost))
    choice, cache = ("policy", name), MarkCache()
    # What names no request has no bucket of its own.
    aside = {lake.quarantine_path(RANKINGS, 0, batches[-1].name, choice): [lost]}
    buckets = sorted({bucket for batch in batches for bucket in batch.buckets})
    with shown(StageReport("resolve", total=len(buckets), unit="buckets"), "import") as advance:
        for done, bucket in enumerate(buckets, start=1):
            of_bucket = [batch for batch in batches if bucket in batch.buckets]
            here = placed.filter(bucket=bucket)
            stamp = _stamp(lake, bucket, of_bucket, digest, [batch.name for batch in batches], cache)
            resolved = _resolve(lake, bucket, of_bucket, here)
            counts.update({**resolved.counts, **_by_code(resolved.lost), "turns": resolved.ranking.height})
            counts["requests"] += resolved.ranking.select(schemas.REQUEST_KEY).n_unique()
            for batch in of_bucket:
                path = lake.path(RANKINGS, bucket, batch.name, choice)
                ranking = _table(resolved.ranking.filter(seq=batch.seq), schemas.RANKINGS)
                tables.publish(lake.storage, path, ranking, schemas.RANKINGS, stamp)
                path = lake.quarantine_path(RANKINGS, bucket, batch.name, choice)
                aside.setdefault(path, []).append(resolved.lost.filter(seq=batch.seq).drop("seq"))
            advance(done)
    _put_aside(lake, name, aside, digest)
    return dict(counts)


def _require_free(lake: Lake, name: str) -> None:
    lake.folder(RANKINGS, ("policy", name))  # raises for what cannot be part of a path
    of_pools = known_policies(CHANNEL_NAMES, with_cross_encoder=True, with_teacher=True)
    known = (*of_pools, *MEMORY_POLICIES, *LLM_POLICIES)
    if name in known or why_unknown(name, known) is not None:
        (near,) = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
        raise NameTaken(f"a ranking cannot be called {name}: that is a policy's name, or like one ({near})")


def _rows(file: File) -> Iterator[pl.DataFrame]:
    """The rows of one file, group by group. Raises IngestError."""
    with file.document() as (document, _):
        name, stream = document.name, document.stream
        try:
            parquet = pq.ParquetFile(stream if stream.seekable() else io.BytesIO(stream.read()))
            require_columns(parquet.schema_arrow, name)
            columns = [column for column in (*REQUIRED, *OPTIONAL) if column in parquet.schema_arrow.names]
            first = 0
            for group in range(parquet.num_row_groups):
                rows = rows_of(parquet.read_row_group(group, columns=columns), name, first)
                first += rows.height
                yield rows
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk, and not what lies on it
            raise IngestError(f"{name} is no Parquet file that can be read: {error}") from error


def _asked(lake: Lake, batches: Sequence[Batch], request_ids: pl.Series) -> pl.DataFrame:
    """The stored requests of these ids: history_id, request_id, bucket, seq."""
    wanted = request_ids.drop_nulls().unique()
    schema = {**dict.fromkeys(schemas.REQUEST_KEY, pl.String), "bucket": pl.Int64, "seq": pl.Int64}
    found = [pl.DataFrame(schema=schema)]
    for batch in batches:
        for bucket in batch.buckets:
            path = lake.path("requests", bucket, batch.name)
            keys = pl.DataFrame(tables.read(lake.storage, [path], schemas.REQUESTS, columns=schemas.REQUEST_KEY))
            place_of = {"bucket": pl.lit(bucket, pl.Int64), "seq": pl.lit(batch.seq, pl.Int64)}
            found.append(keys.filter(pl.col("request_id").is_in(wanted.implode())).with_columns(**place_of))
    return pl.concat(found)


def _stamp(lake: Lake, bucket: int, batches: Sequence[Batch], source: str, arrived: list[str], cache: MarkCache) -> str:
    """Stamp of what is written of one bucket: all that decides it."""
    marks = {
        name: [tables.read_mark(lake.storage, path, cache) for path in _paths(lake, name, bucket, batches)]
        for name in _READ
    }
    return fingerprint(
        {
            "stage": RANKINGS,
            "version": _VERSION,
            "source": source,
            # A request in another bucket can make the id of one in this bucket ambiguous.
            "batches": arrived,
            "inputs": {name: [mark.digest for mark in of_name if mark] for name, of_name in marks.items()},
        }
    )


def _resolve(lake: Lake, bucket: int, batches: Sequence[Batch], placed: pl.DataFrame) -> Resolved:
    """What the rows of one bucket mean."""
    histories = placed["history_id"].unique().sort().to_list()
    requests, sources, turns = (
        tables.read(lake.storage, _paths(lake, name, bucket, batches), schema, histories, columns)
        for name, (schema, columns) in _READ.items()
    )
    return resolve(placed, requests, sources, turns)


def _paths(lake: Lake, table: str, bucket: int, batches: Sequence[Batch]) -> list[str]:
    return [lake.path(table, bucket, batch.name) for batch in batches]


def _put_aside(lake: Lake, name: str, aside: Mapping[str, Sequence[pl.DataFrame]], source: str) -> None:
    """Makes these rows the quarantine of a ranking; what an earlier import left there goes."""
    kept = set()
    for path, parts in aside.items():
        rows = _table(pl.concat(parts).sort("history_id", "request_id", "file", "place"), schemas.QUARANTINE)
        if rows.num_rows:
            data, _ = tables.encode(rows, schemas.QUARANTINE, source)
            lake.storage.replace(path, data)
            kept.add(path)
    folder = f"quarantine/{lake.folder(RANKINGS, ('policy', name))}"
    for info in lake.storage.list(folder, ".parquet"):
        if info.path not in kept:
            lake.storage.delete(info.path)


def _table(rows: pl.DataFrame, schema: pa.Schema) -> pa.Table:
    return rows.select(schema.names).to_arrow().cast(schema)


def _by_code(lost: pl.DataFrame) -> dict[str, int]:
    return {f"lost_{code}": count for code, count in lost.group_by("code").len().iter_rows()}


def _lost(counts: Mapping[str, int]) -> int:
    return sum(count for name, count in counts.items() if name.startswith("lost_"))

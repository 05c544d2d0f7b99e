"""Arrivals on their way to their buckets, on local disk, so that memory holds a chunk of them and never a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cluster.lake import Lake
from pipeline.ingest.arrival import Arrival

TABLES = ("turns", "requests", "citations", "quarantine")
"""The tables of an arrival."""

PART_TURNS = 4_000
"""A part of a bucket is closed once its histories have so many turns. One history is never divided."""


class Spool:
    """Splits arrivals by bucket, and writes them to a folder."""

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
        for name in TABLES:
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


def parts_of_bucket(folder: Path, bucket: int) -> Iterator[tuple[list[str], Arrival]]:
    """What was spooled of one bucket, part by part in the order of histories: their ids, and all that came of them.

    Rows keep the order in which they came; those that name no history are of the first part.
    """
    for number, histories in enumerate(_divided(_turns_of_histories(folder, bucket))):
        wanted = pa.array([*histories, None] if number == 0 else histories, pa.large_string())
        empty = Arrival.empty()
        read = {name: [getattr(empty, name), *_rows(folder, bucket, name, wanted)] for name in TABLES}
        yield histories, Arrival(**{name: pa.concat_tables(tables) for name, tables in read.items()})


def _turns_of_histories(folder: Path, bucket: int) -> pl.DataFrame:
    """The histories of a bucket in order, with how many turns arrived for each: columns history_id and turns."""
    counts = [pl.DataFrame(schema={"history_id": pl.String, "turns": pl.UInt32})]
    for name in TABLES:
        for path in _files(folder, bucket, name):
            with pa.memory_map(str(path)) as mapped:
                ids = pl.DataFrame(pa.ipc.open_file(mapped).read_all().select(["history_id"]))
                counted = ids.group_by("history_id").len("turns").with_columns(pl.col("turns") * (name == "turns"))
                counts.append(counted)
    every = pl.concat(counts, how="vertical_relaxed").drop_nulls("history_id")
    return every.group_by("history_id").agg(pl.col("turns").sum()).sort("history_id")


def _divided(counted: pl.DataFrame) -> Iterator[list[str]]:
    """Runs of histories with about PART_TURNS turns each; one without a history where there is none."""
    part = (counted["turns"].cum_sum() - counted["turns"]) // PART_TURNS
    runs = counted.with_columns(part=part).group_by("part", maintain_order=True).agg("history_id")
    yield from runs["history_id"].to_list() or [[]]


def _rows(folder: Path, bucket: int, name: str, histories: pa.Array) -> Iterator[pa.Table]:
    for path in _files(folder, bucket, name):
        with pa.memory_map(str(path)) as mapped:
            table = pa.ipc.open_file(mapped).read_all()
            # Copied out of the map: what is of other histories is never read.
            yield table.filter(pc.is_in(table["history_id"], histories))


def _files(folder: Path, bucket: int, name: str) -> Sequence[Path]:
    return sorted(folder.glob(f"{bucket}-{name}-*.arrow"))

"""The shards of a run and what each waits for: derived from the inputs of the stages, without touching a file."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cluster.batches import Batch
from cluster.stage import Input, Stage


class Shard(NamedTuple):
    """One (stage, batch, bucket), by the stage's place in the list and the batch's seq. Sorts in the order of work."""

    stage: int
    seq: int
    bucket: int


class Graph:
    """Stages times committed batches.

    Raises ValueError when two stages write the same table and choice, or a stage reads what a later one writes.
    """

    def __init__(self, stages: Sequence[Stage], batches: Sequence[Batch]) -> None:
        self.stages = tuple(stages)
        self.batches = {batch.seq: batch for batch in sorted(batches, key=lambda batch: batch.seq)}
        self._touching: dict[int, list[int]] = {}
        for batch in self.batches.values():
            for bucket in batch.buckets:
                self._touching.setdefault(bucket, []).append(batch.seq)
        self._producers = _producers(self.stages)
        self._consumers: list[list[tuple[int, Input]]] = [[] for _ in self.stages]
        for consumer, stage in enumerate(self.stages):
            for source in stage.inputs.values():
                producer = self.producer(source)
                if producer is not None:
                    self._consumers[producer].append((consumer, source))

    @property
    def buckets(self) -> list[int]:
        """Every bucket that some batch touches."""
        return sorted(self._touching)

    def seqs(self, bucket: int) -> list[int]:
        """The batches that touch a bucket, in order."""
        return self._touching[bucket]

    def shards(self) -> Iterator[Shard]:
        """Every shard, in the order of work: stage, batch, bucket. What a shard waits for comes before it."""
        for stage in range(len(self.stages)):
            for seq, batch in self.batches.items():
                for bucket in sorted(batch.buckets):
                    yield Shard(stage, seq, bucket)

    def producer(self, source: Input) -> int | None:
        """The stage that writes an input's table, None where ingest does."""
        return self._producers.get((source.table, source.choice))

    def root(self, stage: int) -> str:
        """The table of ingest whose rows a stage works on: its primary input's, or that of whoever writes it."""
        source = self.stages[stage].inputs[self.stages[stage].primary]
        producer = self.producer(source)
        return source.table if producer is None else self.root(producer)

    def extent(self, shard: Shard, source: Input) -> range:
        """Which of `seqs(shard.bucket)` an input takes, as positions."""
        seqs = self._touching[shard.bucket]
        if source.span == "all":
            return range(len(seqs))
        position = bisect.bisect_left(seqs, shard.seq)
        return range(position + 1) if source.span == "prefix" else range(position, position + 1)

    def dependents(self, shard: Shard) -> Iterator[Shard]:
        """The shards that read this one's output, once for each input that does."""
        seqs = self._touching[shard.bucket]
        for consumer, source in self._consumers[shard.stage]:
            if source.span == "batch":
                readers = [shard.seq]
            elif source.span == "prefix":
                readers = seqs[bisect.bisect_left(seqs, shard.seq) :]
            else:
                readers = seqs
            for seq in readers:
                yield Shard(consumer, seq, shard.bucket)


def _producers(stages: Sequence[Stage]) -> dict[tuple[str, tuple[str, str] | None], int]:
    names = [stage.name for stage in stages]
    if len(set(names)) != len(names):
        raise ValueError(f"two stages have the same name: {names}")
    producers: dict[tuple[str, tuple[str, str] | None], int] = {}
    for index, stage in enumerate(stages):
        target = (stage.table, stage.choice)
        if target in producers:
            raise ValueError(f"stages {names[producers[target]]} and {stage.name} both write {_shown(*target)}")
        producers[target] = index
    for index, stage in enumerate(stages):
        for source in stage.inputs.values():
            producer = producers.get((source.table, source.choice))
            if producer is None:
                continue
            if producer >= index:
                raise ValueError(f"stage {stage.name} reads {_shown(source.table, source.choice)}, written after it")
            if not stages[producer].schema.equals(source.schema):
                raise ValueError(
                    f"stage {stage.name} reads {_shown(source.table, source.choice)} with another schema than "
                    f"{names[producer]} writes:\n{source.schema}\nversus\n{stages[producer].schema}"
                )
    return producers


def _shown(table: str, choice: tuple[str, str] | None) -> str:
    return table if choice is None else f"{table}/{choice[0]}={choice[1]}"

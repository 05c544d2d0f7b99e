"""What a run has to do: the state of every shard, decided from footers alone."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from pathlib import PurePosixPath

from cluster import quarantine, tables
from cluster.batches import Batch
from cluster.cache import MarkCache
from cluster.errors import LakeError, NoSuchStage
from cluster.graph import Graph, Shard
from cluster.lake import Lake
from cluster.quarantine import QuarantineNote
from cluster.shard import ShardReport, Source, Work
from cluster.stage import Choice, Input, Stage
from cluster.stamp import Parts
from cluster.tables import Mark


class State(StrEnum):
    """Where a shard stands. `waiting`: an input is still to be written; `blocked`: an input will not be written."""

    DONE = "done"
    MISSING = "missing"
    STALE = "stale"
    NEEDS_BACKFILL = "needs_backfill"
    WAITING = "waiting"
    BLOCKED = "blocked"
    FAILED = "failed"


RUNNABLE = (State.MISSING, State.STALE)
DEAD = (State.NEEDS_BACKFILL, State.BLOCKED, State.FAILED)


@dataclass(slots=True)
class Standing:
    """One shard's state and, when its inputs are there, the rows of its primary input."""

    state: State
    rows: int = 0


class Plan:
    """The states of all shards of `stages` over `batches`; kept up to date by whoever runs them.

    Reads footers through `cache`; reads no row but those of quarantine files. Raises LakeError where a file of a
    committed batch is missing, NoSuchStage for a name in `backfill` that is no stage.
    """

    def __init__(
        self,
        lake: Lake,
        stages: Sequence[Stage],
        batches: Sequence[Batch],
        backfill: Collection[str] = (),
        cache: MarkCache | None = None,
    ) -> None:
        unknown = sorted(set(backfill) - {stage.name for stage in stages})
        if unknown:
            known = ", ".join(stage.name for stage in stages if stage.costly)
            raise NoSuchStage(
                f"no stage {', '.join(unknown)} to back-fill; costly stages of this run: {known or 'none'}"
            )
        self.graph = Graph(stages, batches)
        self.standings: dict[Shard, Standing] = {}
        self.notes: dict[Shard, QuarantineNote] = {}
        self.lake = lake
        self._backfill = frozenset(backfill)
        self._cache = cache
        self._marks: dict[str, Mark | None] = {}
        self._chains: dict[tuple[str, str | None, int], list[str]] = {}
        self._pending: dict[Shard, int] = {}
        self._listed: dict[str, frozenset[str]] = {}
        self._choices: dict[str, list[Choice]] = {}
        self._survey()

    def shards(self, *states: State) -> Iterator[Shard]:
        """The shards in any of `states`, in the order of work."""
        return (shard for shard, standing in self.standings.items() if standing.state in states)

    def stage(self, shard: Shard) -> Stage:
        """The stage of a shard."""
        return self.graph.stages[shard.stage]

    def batch(self, shard: Shard) -> Batch:
        """The batch of a shard."""
        return self.graph.batches[shard.seq]

    def output(self, shard: Shard) -> str:
        """Path of a shard's output, or of what stands in its place."""
        return self.stand_in(shard) or self._own_output(shard)

    def stand_in(self, shard: Shard) -> str | None:
        """The file under another choice that stands for a shard's output; None where the shard has or makes its own."""
        stage = self.stage(shard)
        if not stage.instead or stage.name in self._backfill:
            return None
        own = self._own_output(shard)
        if own in self._files(own):
            return None
        batch = self.batch(shard).name
        others = (self.lake.path(stage.table, shard.bucket, batch, choice) for choice in stage.instead)
        return next((path for path in others if path in self._files(path)), None)

    def source(self, bucket: int, seq: int, source: Input) -> str:
        """Path of the file of an input in one bucket, of one batch."""
        producer = self.graph.producer(source)
        if producer is not None:
            return self.output(Shard(producer, seq, bucket))
        return self.lake.path(source.table, bucket, self.graph.batches[seq].name, source.choice)

    def quarantine(self, shard: Shard) -> str:
        """Path of a shard's quarantine file."""
        stage = self.stage(shard)
        return self.lake.quarantine_path(stage.name, shard.bucket, self.batch(shard).name, stage.choice)

    def mark(self, path: str) -> Mark:
        """Mark of a file that must be there. Raises LakeError when it is not."""
        mark = self._mark(path)
        if mark is None:
            raise LakeError(
                f"{path} is missing, though its batch is committed and no stage of this run writes it. "
                "Restore the file, or ingest its source into a new lake."
            )
        return mark

    def inputs(self, shard: Shard) -> dict[str, tuple[Source, ...]]:
        """The files that a shard reads, by input name. Its inputs must be done."""
        return {name: tuple(self._sources(shard, source)) for name, source in self.stage(shard).inputs.items()}

    def work(self, shard: Shard) -> Work:
        """All that a worker must be told, paths and digests; made when asked for, because a plan holds many."""
        stage, parts = self.stage(shard), self.parts(shard)
        return Work(
            output=self.output(shard),
            quarantine=self.quarantine(shard),
            inputs=self.inputs(shard),
            stamp=parts.stamp,
            parts=parts.note(),
            crashed=self.note(shard).crashed,
            label=f"{stage.name} of batch {self.batch(shard).name}, bucket {shard.bucket}",
        )

    def stamp(self, shard: Shard) -> str:
        """What a shard's output must carry to be up to date."""
        return self.parts(shard).stamp

    def parts(self, shard: Shard, without: Collection[str] = ()) -> Parts:
        """What a shard's stamp is made of, `without` the inputs that are still to be written."""
        stage = self.stage(shard)
        known = {name: source for name, source in stage.inputs.items() if name not in without}
        return Parts(
            stage=stage.name,
            version=stage.version,
            config=stage.config,
            identities=stage.identities,
            inputs={name: self._digest(shard, source) for name, source in known.items()},
            crashed=self.note(shard).crashed,
        )

    def is_there(self, shard: Shard) -> bool:
        """Whether there was a file of this shard when the plan was made, up to date or not."""
        output = self.output(shard)
        return output in self._files(output)

    def is_elsewhere(self, shard: Shard) -> bool:
        """Whether the shard's table has this batch and bucket under another choice.

        A choice that a stage of this run writes too does not count once the shard's own choice has files: a run that
        broke off between the two has left arrivals of one alone. Before, it does: all of the past is one choice's.
        """
        stage = self.stage(shard)
        if stage.choice is None:
            return False
        if stage.table not in self._choices:
            self._choices[stage.table] = self.lake.choices(stage.table)
        written = {stage.choice}
        if stage.choice in self._choices[stage.table]:
            same_table = (other for other in self.graph.stages if other.table == stage.table)
            written |= {other.choice for other in same_table if other.choice is not None}
        paths = (
            self.lake.path(stage.table, shard.bucket, self.batch(shard).name, choice)
            for choice in self._choices[stage.table]
            if choice not in written
        )
        return any(path in self._files(path) for path in paths)

    def needs_backfill(self, shard: Shard) -> bool:
        """Whether a shard that is not up to date is left as it is unless its stage is named in `backfill`."""
        stage = self.stage(shard)
        if not stage.costly or stage.name in self._backfill:
            return False
        return self.is_there(shard) or (not stage.works_on_its_own and self.is_elsewhere(shard))

    def note(self, shard: Shard) -> QuarantineNote:
        """What the shard's quarantine file says."""
        return self.notes.get(shard, QuarantineNote())

    def finish(self, shard: Shard, report: ShardReport) -> list[Shard]:
        """Takes in a shard's new output; returns the shards whose state changed with it: runnable, done or blocked."""
        self._marks[self.output(shard)] = report.mark
        self._marks[self.quarantine(shard)] = report.quarantine_mark
        self.notes[shard] = report.note
        changed: list[Shard] = []
        settled = [shard]
        while settled:
            current = settled.pop()
            self.standings[current].state = State.DONE
            for dependent in self._released_by(current):
                self._decide(dependent)
                changed.append(dependent)
                state = self.standings[dependent].state
                if state is State.DONE:
                    settled.append(dependent)
                elif state in DEAD:
                    changed += self._block_below(dependent)
        return changed

    def fail(self, shard: Shard) -> list[Shard]:
        """Takes in that a shard has failed; returns the shards that are blocked because of it."""
        self.standings[shard].state = State.FAILED
        return self._block_below(shard)

    def _released_by(self, shard: Shard) -> Iterator[Shard]:
        """The shards that waited for this one and for no other."""
        for dependent in self.graph.dependents(shard):
            if self.standings[dependent].state is State.WAITING:
                self._pending[dependent] -= 1
                if not self._pending[dependent]:
                    del self._pending[dependent]
                    yield dependent

    def _block_below(self, shard: Shard) -> list[Shard]:
        blocked: list[Shard] = []
        edge = [shard]
        while edge:
            for dependent in self.graph.dependents(edge.pop()):
                if self.standings[dependent].state is State.WAITING:
                    self.standings[dependent].state = State.BLOCKED
                    blocked.append(dependent)
                    edge.append(dependent)
        return blocked

    def _survey(self) -> None:
        """Decides every shard whose inputs are done, stage by stage.

        What an input still lacks is read from running sums over the batches of a bucket, so that a long prefix costs
        no more than a short one.
        """
        undone: dict[tuple[int, int], list[int]] = {}
        dead: dict[tuple[int, int], list[int]] = {}
        for index, stage in enumerate(self.graph.stages):
            self._find_notes(index)
            for bucket in self.graph.buckets:
                for seq in self.graph.seqs(bucket):
                    shard = Shard(index, seq, bucket)
                    spans = [
                        ((producer, bucket), self.graph.extent(shard, source))
                        for source in stage.inputs.values()
                        if (producer := self.graph.producer(source)) is not None
                    ]
                    self._place(
                        shard,
                        sum(within(undone, *span) for span in spans),
                        any(within(dead, *span) for span in spans),
                    )
                states = [self.standings[Shard(index, seq, bucket)].state for seq in self.graph.seqs(bucket)]
                undone[index, bucket] = [0, *accumulate(state is not State.DONE for state in states)]
                dead[index, bucket] = [0, *accumulate(state in DEAD for state in states)]
        self.standings = {shard: self.standings[shard] for shard in self.graph.shards()}

    def _place(self, shard: Shard, pending: int, blocked: bool) -> None:
        if blocked:
            self.standings[shard] = Standing(State.BLOCKED)
        elif pending:
            self.standings[shard] = Standing(State.WAITING)
            self._pending[shard] = pending
        else:
            self.standings[shard] = Standing(State.WAITING)
            self._decide(shard)

    def _decide(self, shard: Shard) -> None:
        """Sets the state of a shard whose inputs are all there."""
        stage = self.stage(shard)
        mark = self._mark(self.output(shard)) if self.is_there(shard) else None
        if self.stand_in(shard) is not None or (mark is not None and mark.stamp == self.stamp(shard)):
            state = State.DONE
        elif self.needs_backfill(shard):
            state = State.NEEDS_BACKFILL
        else:
            state = State.MISSING if mark is None else State.STALE
        rows = sum(self.mark(source.path).rows for source in self._sources(shard, stage.inputs[stage.primary]))
        self.standings[shard] = Standing(state, rows)

    def _own_output(self, shard: Shard) -> str:
        stage = self.stage(shard)
        return self.lake.path(stage.table, shard.bucket, self.batch(shard).name, stage.choice)

    def _files(self, path: str) -> frozenset[str]:
        """The files under a path's table and choice, as they were when first asked: one listing for all of them."""
        root = str(PurePosixPath(path).parent.parent)
        if root not in self._listed:
            self._listed[root] = frozenset(info.path for info in self.lake.storage.list(root, ".parquet"))
        return self._listed[root]

    def _find_notes(self, index: int) -> None:
        """Reads the quarantine files of a stage: few, and small."""
        for seq, batch in self.graph.batches.items():
            for bucket in batch.buckets:
                shard = Shard(index, seq, bucket)
                path = self.quarantine(shard)
                if path in self._files(path):
                    rows = quarantine.read(self.lake.storage, path, self.stage(shard))
                    self.notes[shard] = quarantine.note_of(rows, self.stage(shard))

    def _sources(self, shard: Shard, source: Input) -> Iterator[Source]:
        seqs = self.graph.seqs(shard.bucket)
        for position in self.graph.extent(shard, source):
            path = self.source(shard.bucket, seqs[position], source)
            yield Source(path, self.mark(path).digest)

    def _digest(self, shard: Shard, source: Input) -> str:
        """Digest of an input's files in order: of the one file, or a chain over the files of a longer span.

        The chain is kept, so that the stamp over a prefix of n batches costs one step, not n.
        """
        extent = self.graph.extent(shard, source)
        if source.span == "batch":
            return next(self._sources(shard, source)).digest
        key = (source.table, None if source.choice is None else "=".join(source.choice), shard.bucket)
        chain = self._chains.setdefault(key, [])
        seqs = self.graph.seqs(shard.bucket)
        while len(chain) < len(extent):
            path = self.source(shard.bucket, seqs[len(chain)], source)
            before = chain[-1] if chain else ""
            chain.append(hashlib.sha256(f"{before}/{self.mark(path).digest}".encode()).hexdigest())
        return chain[len(extent) - 1]

    def _mark(self, path: str) -> Mark | None:
        if path not in self._marks:
            self._marks[path] = tables.read_mark(self.lake.storage, path, self._cache)
        return self._marks[path]


def within(sums: Mapping[tuple[int, int], Sequence[int]], key: tuple[int, int], extent: range) -> int:
    """How many of the batches in `extent` count, from running sums over the batches of a (stage, bucket)."""
    cumulative = sums[key]
    return cumulative[extent.stop] - cumulative[extent.start]

"""Ordered arrivals: who may write batch n, and what has arrived.

`<seq>.claim` says whose a seq is. `<batch>.json` is created exclusively, by commit or by void: the first decides for
good, so that a writer which outlives its void cannot commit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from cluster.errors import BatchInProgress, BatchVoided, LakeError
from cluster.hints import command
from cluster.lake import Lake

_FOLDER = "batches"
_DECIDED = re.compile(r"(\d{6,})-[0-9a-f]{12}\.json")
_CLAIMED = re.compile(r"(\d{6,})\.claim")


def _name(seq: int, digest: str) -> str:
    return f"{seq:06d}-{digest[:12]}"


def seq_of(name: str) -> int:
    """The place in the order of the batch of that name."""
    return int(name.partition("-")[0])


@dataclass(frozen=True)
class Batch:
    """A committed arrival: its place in the order, the digest of what arrived, the buckets it touched, and counts."""

    seq: int
    digest: str
    buckets: tuple[int, ...]
    counts: Mapping[str, int]

    @property
    def name(self) -> str:
        """The name that its files carry."""
        return _name(self.seq, self.digest)


@dataclass(frozen=True)
class Claim:
    """The right to write one batch; `already` is the batch that holds the same arrival, if it was committed before."""

    seq: int
    digest: str
    already: Batch | None = None

    @property
    def name(self) -> str:
        """The name that the batch's files carry."""
        return _name(self.seq, self.digest)


def committed(lake: Lake) -> list[Batch]:
    """The committed batches, in order."""
    return [batch for batch in _decided(lake).values() if batch is not None]


def uncommitted(lake: Lake) -> list[tuple[Claim, datetime]]:
    """What is claimed and neither committed nor voided, and since when: an ingest under way, or one that broke off."""
    # What is decided is read after the claims: one that is committed in between is none.
    claims = _claims(lake)
    return [(held, lake.storage.modified(_claim_path(held.seq))) for held in _undecided(claims, _decided(lake))]


def claim(lake: Lake, digest: str) -> Claim:
    """Claims the next batch for an arrival; an interrupted claim of the same arrival is resumed.

    Raises BatchInProgress when another arrival is claimed and not committed.
    """
    while True:
        decided = _decided(lake)
        for batch in decided.values():
            if batch is not None and batch.digest == digest:
                return Claim(batch.seq, digest, already=batch)
        claims = _claims(lake)
        for held in _undecided(claims, decided):
            if held.digest == digest:
                return held
            raise BatchInProgress(
                f"batch {held.seq} (digest {held.digest[:12]}) is claimed and not committed: ingest that source again "
                f"to finish it, or drop it with `{command('ingest', lake.url, '--void')}`"
            )
        seq = max(claims, default=0) + 1
        if lake.storage.create(_claim_path(seq), json.dumps({"digest": digest}).encode()):
            return Claim(seq, digest)


def commit(lake: Lake, held: Claim, buckets: Sequence[int], counts: Mapping[str, int]) -> Batch:
    """Makes a claimed batch part of the lake. A twin that committed the same before is no error.

    Raises BatchVoided when the batch was dropped meanwhile, LakeError when a twin committed something else.
    """
    batch = Batch(held.seq, held.digest, tuple(sorted(buckets)), dict(counts))
    value = {"seq": batch.seq, "digest": batch.digest, "buckets": list(batch.buckets), "counts": dict(batch.counts)}
    path = _decision_path(held.name)
    if not lake.storage.create(path, json.dumps(value, sort_keys=True).encode()):
        there = _batch(json.loads(lake.storage.read_bytes(path)))
        if there is None:
            raise BatchVoided(f"batch {held.name} was dropped by `ingest --void` meanwhile: ingest its source again")
        if there != batch:
            raise LakeError(
                f"batch {held.name} was committed before with other buckets or counts; one source gives one outcome, "
                "so two releases of slatemill are at work here: use one of them, on a new lake"
            )
    return batch


def void(lake: Lake) -> list[str]:
    """Drops what is claimed and not committed, with every file it wrote; returns the names of the dropped batches.

    The claim stays, so that its number is never given to another batch. What a writer left behind after an earlier
    void is removed too.
    """
    decided = _decided(lake)
    gone, dropped = set(), []
    for seq, holder in _claims(lake).items():
        name = _name(seq, holder)
        if seq in decided:
            if decided[seq] is None:
                gone.add(name)
            continue
        value = {"seq": seq, "digest": holder, "void": True}
        if lake.storage.create(_decision_path(name), json.dumps(value, sort_keys=True).encode()):
            dropped.append(name)
    gone.update(dropped)
    for info in lake.storage.list("", ".parquet") if gone else ():
        if PurePosixPath(info.path).stem in gone:
            lake.storage.delete(info.path)
    return dropped


def _claim_path(seq: int) -> str:
    return f"{_FOLDER}/{seq:06d}.claim"


def _decision_path(name: str) -> str:
    return f"{_FOLDER}/{name}.json"


def _claims(lake: Lake) -> dict[int, str]:
    """Every claim's digest by seq."""
    claims: dict[int, str] = {}
    for info in lake.storage.list(_FOLDER, ".claim"):
        match = _CLAIMED.fullmatch(info.path.rsplit("/", 1)[-1])
        if match:
            claims[int(match[1])] = json.loads(lake.storage.read_bytes(info.path))["digest"]
    return claims


def _undecided(claims: Mapping[int, str], decided: Collection[int]) -> list[Claim]:
    return [Claim(seq, digest) for seq, digest in claims.items() if seq not in decided]


def _decided(lake: Lake) -> dict[int, Batch | None]:
    """What was decided of each seq, in order: its batch, or None where it was voided."""
    decided: dict[int, Batch | None] = {}
    for info in lake.storage.list(_FOLDER, ".json"):
        match = _DECIDED.fullmatch(info.path.rsplit("/", 1)[-1])
        if match:
            decided[int(match[1])] = _batch(json.loads(lake.storage.read_bytes(info.path)))
    return dict(sorted(decided.items()))


def _batch(value: Mapping[str, Any]) -> Batch | None:
    if value.get("void"):
        return None
    return Batch(value["seq"], value["digest"], tuple(value["buckets"]), value["counts"])

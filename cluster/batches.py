"""Ordered arrivals: who may write batch n, and what has arrived."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cluster.errors import BatchInProgress
from cluster.lake import Lake

_FOLDER = "batches"
_COMMITTED = re.compile(r"(\d{6,})-[0-9a-f]{12}\.json")
_CLAIMED = re.compile(r"(\d{6,})\.claim")


def _name(seq: int, digest: str) -> str:
    return f"{seq:06d}-{digest[:12]}"


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
    batches = []
    for info in lake.storage.list(_FOLDER, ".json"):
        if _COMMITTED.fullmatch(info.path.rsplit("/", 1)[-1]):
            value = json.loads(lake.storage.read_bytes(info.path))
            batches.append(Batch(value["seq"], value["digest"], tuple(value["buckets"]), value["counts"]))
    return sorted(batches, key=lambda batch: batch.seq)


def claim(lake: Lake, digest: str) -> Claim:
    """Claims the next batch for an arrival; an interrupted claim of the same arrival is resumed.

    Raises BatchInProgress when another arrival is claimed and not committed.
    """
    while True:
        batches = committed(lake)
        for batch in batches:
            if batch.digest == digest:
                return Claim(batch.seq, digest, already=batch)
        done = {batch.seq for batch in batches}
        claims = _claims(lake)
        for seq, holder in claims.items():
            if seq in done or holder is None:
                continue
            if holder == digest:
                return Claim(seq, digest)
            raise BatchInProgress(
                f"batch {seq} (digest {holder[:12]}) is claimed and not committed: ingest that source again to "
                f"finish it, or drop it with `slatemill ingest {lake.url} --void`"
            )
        seq = max([*done, *claims], default=0) + 1
        if lake.storage.create(_claim_path(seq), json.dumps({"digest": digest}).encode()):
            return Claim(seq, digest)


def commit(lake: Lake, held: Claim, buckets: Sequence[int], counts: Mapping[str, int]) -> Batch:
    """Makes a claimed batch part of the lake. A twin that committed the same arrival first is no error."""
    batch = Batch(held.seq, held.digest, tuple(sorted(buckets)), dict(counts))
    value = {"seq": batch.seq, "digest": batch.digest, "buckets": list(batch.buckets), "counts": dict(batch.counts)}
    lake.storage.create(f"{_FOLDER}/{batch.name}.json", json.dumps(value, sort_keys=True).encode())
    return batch


def void(lake: Lake) -> list[str]:
    """Drops what is claimed and not committed, with every file it wrote; returns the names of the dropped batches.

    The claim stays, marked void, so that its number is never given to another batch.
    """
    done = {batch.seq for batch in committed(lake)}
    dropped = []
    for seq, holder in _claims(lake).items():
        if seq in done or holder is None:
            continue
        name = _name(seq, holder)
        for info in lake.storage.list("", f"/{name}.parquet"):
            lake.storage.delete(info.path)
        lake.storage.replace(_claim_path(seq), json.dumps({"digest": holder, "void": True}).encode())
        dropped.append(name)
    return dropped


def _claim_path(seq: int) -> str:
    return f"{_FOLDER}/{seq:06d}.claim"


def _claims(lake: Lake) -> dict[int, str | None]:
    """Every claim's digest by seq; None for one that was voided."""
    claims: dict[int, str | None] = {}
    for info in lake.storage.list(_FOLDER, ".claim"):
        match = _CLAIMED.fullmatch(info.path.rsplit("/", 1)[-1])
        if match:
            value = json.loads(lake.storage.read_bytes(info.path))
            claims[int(match[1])] = None if value.get("void") else value["digest"]
    return claims

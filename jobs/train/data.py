"""What a lake holds to learn from and to judge by: features and labels of requests whose evidence is known."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cluster import tables
from cluster.batches import Batch, committed
from cluster.lake import Lake
from jobs.config import Profile
from pipeline import schemas
from pipeline.features.groups import Groups

HOLDOUT_SALT = "holdout/"


class NothingToLearn(ValueError):
    """There is no request whose evidence is in its pool."""


@dataclass(frozen=True)
class Labelled:
    """Requests of one bucket and batch that have evidence and are not adversarial: tables REQUESTS, FEATURES, LABELS.

    A label may come with a later batch than its request.
    """

    batch: Batch
    requests: pa.Table
    features: pa.Table
    labels: pa.Table


def by_bucket(lake: Lake) -> dict[int, list[Batch]]:
    """The committed batches of each bucket, in order of arrival."""
    batches = committed(lake)
    buckets = sorted({bucket for batch in batches for bucket in batch.buckets})
    return {bucket: [batch for batch in batches if bucket in batch.buckets] for bucket in buckets}


def labelled(lake: Lake, profile: Profile, bucket: int, batches: Sequence[Batch]) -> Iterator[Labelled]:
    """The labelled requests of one bucket, batch by batch; `batches` are all of that bucket."""
    gold = tables.read(lake.storage, [lake.path("labels", bucket, batch.name) for batch in batches], schemas.LABELS)
    for batch in batches:
        asked = pl.DataFrame(tables.read(lake.storage, [lake.path("requests", bucket, batch.name)], schemas.REQUESTS))
        wanted = asked.filter(~pl.col("adversarial")).join(pl.DataFrame(gold), on=schemas.REQUEST_KEY, how="semi")
        path = lake.path("features", bucket, batch.name, ("profile", profile.name))
        rows = tables.read(lake.storage, [path], schemas.features(profile.features))
        requests = wanted.to_arrow().cast(schemas.REQUESTS)
        yield Labelled(batch, requests, _of_requests(rows, wanted), _of_requests(gold, wanted))


def gather(lake: Lake, profile: Profile) -> tuple[pa.Table, pa.Table]:
    """Features and labels of the labelled requests of a lake, bucket by bucket."""
    parts = [part for bucket, batches in by_bucket(lake).items() for part in labelled(lake, profile, bucket, batches)]
    return (
        pa.concat_tables([schemas.features(profile.features).empty_table(), *[part.features for part in parts]]),
        pa.concat_tables([schemas.LABELS.empty_table(), *[part.labels for part in parts]]),
    )


def _of_requests(rows: pa.Table, wanted: pl.DataFrame) -> pa.Table:
    kept = pl.DataFrame(rows).join(wanted, on=schemas.REQUEST_KEY, how="semi", maintain_order="left")
    return kept.to_arrow().cast(rows.schema)


def held_out(history_ids: pa.ChunkedArray, share: float) -> pa.Array:
    """Which rows belong to held-out histories: a stable choice, so that a lake that grows never moves one."""
    distinct = pc.unique(history_ids)
    chosen = pa.array([_fraction(history_id) < share for history_id in distinct.to_pylist()], pa.bool_())
    return pc.take(chosen, pc.index_in(history_ids, distinct))


def _fraction(history_id: str) -> float:
    return int.from_bytes(hashlib.sha256((HOLDOUT_SALT + history_id).encode()).digest()[:8], "big") / 2.0**64


def data_digest(groups: Groups, feature_names: Sequence[str]) -> str:
    """SHA-256 (hex) of what a ranker learns from: the features' names and values, labels, groups and their names.

    Equal for equal data however it was delivered: groups are sorted.
    """
    names = [list(feature_names), groups.history_ids, groups.request_ids]
    digest = hashlib.sha256(json.dumps(names).encode())
    for array in (groups.group_sizes, groups.relevance, groups.matrix):
        digest.update(array.tobytes())
    return digest.hexdigest()

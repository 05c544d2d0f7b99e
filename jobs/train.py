"""`slatemill train`: fits the LambdaRank of a profile on gold evidence, logs and registers it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cluster import snapshot, tables
from cluster.batches import committed
from cluster.lake import Lake
from jobs.config import Profile
from jobs.graph import stages_to_features
from jobs.run import Resources, RunFailed, execute_stages
from models.ranker import LightGBMRanker, auc, fit, ndcg_at
from models.registry import RegisteredVersion, log_training
from pipeline import schemas
from pipeline.features.groups import Groups, training_groups

HOLDOUT_SALT = "holdout/"


class NothingToLearn(ValueError):
    """There is no request whose evidence is in its pool."""


@dataclass(frozen=True)
class TrainReport:
    """What was fitted, on how much, and where it went."""

    ranker: LightGBMRanker
    metrics: dict[str, float]
    counts: dict[str, int]
    version: RegisteredVersion

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON. A metric that the groups do not allow is null."""
        return {
            "profile": self.ranker.profile,
            "ranker": self.ranker.identity,
            "counts": self.counts,
            "metrics": {name: value if math.isfinite(value) else None for name, value in self.metrics.items()},
            "registered": {
                "name": self.version.name,
                "version": self.version.version,
                "champion": self.version.is_champion,
            },
        }


def train(lake: Lake, profile: Profile, resources: Resources, holdout: float, out: Path | None) -> TrainReport:
    """Runs the stages up to features, fits on the histories that are not held out, and registers the ranker.

    `holdout` is the share of histories (by a stable hash of their id) that the ranker never sees.
    Raises RunFailed when a stage failed, NothingToLearn when no group has evidence.
    """
    run_id = snapshot.new_run_id(datetime.now(UTC))
    report = execute_stages(lake, profile, stages_to_features(profile), resources, run_id)
    if report.worker_seconds:
        # What it took, for `slatemill plan`; no run, for there are no slates to evaluate.
        snapshot.write_files(lake, run_id, report.files)
    if report.exit_code:
        raise RunFailed(report)
    features, labels = gather(lake, profile)
    held = held_out(features["history_id"], holdout)
    learned = training_groups(features.filter(pc.invert(held)), labels, profile.features)
    if not len(learned.group_sizes):
        raise NothingToLearn(
            f"no request of this lake outside the holdout ({holdout:g}) has evidence in its pool: ingest labelled "
            "histories, or lower --holdout"
        )
    checked = training_groups(features.filter(held), labels, profile.features)
    ranker = fit(
        learned.matrix,
        learned.relevance,
        learned.group_sizes,
        profile.features,
        profile.ranker,
        seen_histories=sorted(set(learned.history_ids)),
        profile=profile.name,
    )
    metrics = {**_metrics("train", ranker, learned), **_metrics("holdout", ranker, checked)}
    counts = {
        "groups": len(learned.group_sizes),
        "rows": int(learned.matrix.shape[0]),
        "histories": len(set(learned.history_ids)),
        "holdout_groups": len(checked.group_sizes),
        "requests_without_labels": learned.n_requests_without_labels,
        "requests_without_evidence_in_pool": learned.n_requests_without_evidence_in_pool,
    }
    ranker = replace(ranker, metrics=metrics)
    if out is not None:
        ranker.save(out)
    version = log_training(ranker, {**profile.ranker.model_dump(), "holdout": holdout, **counts}, metrics, profile.name)
    return TrainReport(ranker, metrics, counts, version)


def gather(lake: Lake, profile: Profile) -> tuple[pa.Table, pa.Table]:
    """Features and labels of the requests that have evidence and are not adversarial, bucket by bucket."""
    features: list[pa.Table] = []
    labels: list[pa.Table] = []
    batches = committed(lake)
    for bucket in sorted({bucket for batch in batches for bucket in batch.buckets}):
        of_bucket = [batch for batch in batches if bucket in batch.buckets]
        # A label may come with a later batch than its request.
        paths = [lake.path("labels", bucket, batch.name) for batch in of_bucket]
        gold = tables.read(lake.storage, paths, schemas.LABELS)
        for batch in of_bucket:
            asked = tables.read(lake.storage, [lake.path("requests", bucket, batch.name)], schemas.REQUESTS)
            wanted = pl.DataFrame(asked).filter(~pl.col("adversarial"))
            path = lake.path("features", bucket, batch.name, ("profile", profile.name))
            rows = tables.read(lake.storage, [path], schemas.features(profile.features))
            features.append(_of_requests(rows, wanted.join(pl.DataFrame(gold), on=schemas.REQUEST_KEY, how="semi")))
            labels.append(_of_requests(gold, wanted))
    return (
        pa.concat_tables([schemas.features(profile.features).empty_table(), *features]),
        pa.concat_tables([schemas.LABELS.empty_table(), *labels]),
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


def _metrics(name: str, ranker: LightGBMRanker, groups: Groups) -> dict[str, float]:
    if not len(groups.group_sizes):
        return {}
    scores = ranker.score(groups.matrix, ranker.feature_names)
    return {
        f"{name}_ndcg_10": ndcg_at(10, groups.relevance, scores, groups.group_sizes),
        f"{name}_auc": auc(groups.relevance, scores),
    }

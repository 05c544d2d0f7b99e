"""`slatemill finetune`: tunes the late-interaction encoder of a profile on gold evidence, crosswise over histories."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cluster import parallel, snapshot, tables
from cluster.lake import Lake
from cluster.progress import shown
from cluster.report import StageReport
from cluster.stage import Stage
from jobs.config import Profile
from jobs.graph import stages_to_features
from jobs.note_stages import text_stages
from jobs.run import Resources, RunFailed, execute_stages
from jobs.train.data import by_bucket
from models.encoder_registry import RegisteredEncoder, log_finetuning
from models.finetune import Example, FinetuneParams, finetune
from models.finetune_check import mean_reciprocal_rank
from models.resolve import resolve
from models.tuned_encoder import OF_ALL, TunedEncoder, save_tuned
from models.windowed import WindowedConfig
from pipeline import schemas
from pipeline.examples import EXAMPLES, examples

_BYTES_A_TUNING = 3 << 30
"""Memory that one tuning is given: MiniLM with batches of 16 had 2.2 GB of resident memory on LoCoMo's turns."""


class NothingToTune(ValueError):
    """There are no two histories with labelled requests whose evidence is stored, or no encoder to tune."""


@dataclass(frozen=True)
class FinetuneReport:
    """What was tuned, on how much, what it gained on histories that it had not seen, and where it went."""

    tuned: TunedEncoder
    counts: dict[str, int]
    registered: RegisteredEncoder

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        return {
            "encoder": self.tuned.identity.choice_id,
            "counts": self.counts,
            "metrics": dict(self.tuned.metrics),
            "registered": {
                "name": self.registered.name,
                "version": self.registered.version,
                "champion": self.registered.is_champion,
            },
        }


def run_finetune(
    lake: Lake, profile: Profile, resources: Resources, folds: int, params: FinetuneParams, out: Path | None
) -> FinetuneReport:
    """Runs the stages up to pools without tuned channels, tunes one encoder a fold and one on all, and registers them.

    Each fold of histories is left out of one encoder, which is the one that reads it from then on: scores of a history
    come from an encoder that has not learned from it. Pools of the untuned profile give the negatives.
    Raises RunFailed when a stage failed, NothingToTune without a labelled request or late interaction.
    """
    untuned = without_tuned(profile)
    noted = text_stages(untuned, lake.tokenizer) if untuned.recall.record_cited else []
    stages = [*noted, *(stage for stage in stages_to_features(untuned) if stage.name != "features")]
    run_id = snapshot.new_run_id(datetime.now(UTC))
    report = execute_stages(lake, untuned, stages, resources, run_id)
    if report.worker_seconds:
        snapshot.write_files(lake, run_id, report.files)  # what it took, for `slatemill plan`
    if report.exit_code:
        raise RunFailed(report)
    found = gather(lake, stages)
    if found.is_empty():
        raise NothingToTune("no labelled request of this lake has its evidence stored: ingest labelled histories")
    fold_of = folds_of(found["history_id"].unique().sort().to_list(), folds)
    late = profile.late_interaction
    base = late.windowed
    variants, metrics = _tune(found, fold_of, base, params, profile.name, resources)
    counts = {
        "examples": found.height,
        "requests": found.select("history_id", "request_id").n_unique(),
        "histories": len(fold_of),
        "folds": len(variants) - 1,
    }
    with tempfile.TemporaryDirectory() as passing:
        tuned = save_tuned(out or Path(passing), base, params, variants, fold_of, metrics)
        better = metrics["held_out_mrr_tuned"] >= metrics["held_out_mrr_frozen"]
        registered = log_finetuning(tuned, counts, profile.name, crown=better)
    return FinetuneReport(tuned, counts, registered)


def without_tuned(profile: Profile) -> Profile:
    """The profile with the frozen encoder in place of the tuned one: it makes the pools that negatives come from.

    Raises NothingToTune where it has no late interaction.
    """
    recall = profile.recall
    if not recall.encoders:
        raise NothingToTune(
            f"profile {profile.name} has no late interaction: name a channel late_... or tuned_... in recall, or take "
            "--profile tuned"
        )
    frozen = {name: name.replace("tuned_", "late_", 1) for name in recall.channels}
    channels = tuple(dict.fromkeys(frozen.values()))
    # Where it has views alone, one keeps the tokens of requests in the run: they weigh what is learned.
    views = () if any(name.startswith("late_") for name in channels) else ("late_interaction",)
    weights = {frozen[name]: weight for name, weight in recall.weights.items()}
    kept = recall.model_copy(update={"channels": channels, "views": views, "weights": weights})
    return profile.model_copy(
        update={
            "name": f"{profile.name}.untuned",
            "recall": kept,
            "features": ("pool_position",),
            "cross_encoder": None,
        }
    )


def folds_of(history_ids: Sequence[str], folds: int) -> dict[str, str]:
    """The name of the fold of each history, in turn. Raises NothingToTune for fewer than two histories."""
    if len(history_ids) < 2:
        raise NothingToTune(
            "the evidence of one history alone is stored: no encoder could read it without having learned from it. "
            "Ingest more labelled histories"
        )
    n_folds = min(folds, len(history_ids))
    return {history_id: f"fold-{index % n_folds}" for index, history_id in enumerate(history_ids)}


def gather(lake: Lake, stages: Sequence[Stage]) -> pl.DataFrame:
    """Examples (EXAMPLES) of every bucket."""
    by_name = {stage.name: stage for stage in stages}
    found = [pl.DataFrame(schema=EXAMPLES)]
    for bucket, batches in by_bucket(lake).items():
        names = [batch.name for batch in batches]

        def of(table: str, schema: Any, choice: Any = None, names: Sequence[str] = names, bucket: int = bucket) -> Any:
            return tables.read(lake.storage, [lake.path(table, bucket, name, choice) for name in names], schema)

        made = {
            name: of(name, by_name[name].schema, by_name[name].choice) for name in ("pools", "terms", "request_tokens")
        }
        requests, labels, turns = (
            of(name, schema)
            for name, schema in (("requests", schemas.REQUESTS), ("labels", schemas.LABELS), ("turns", schemas.TURNS))
        )
        found.append(examples(requests, labels, made["pools"], turns, made["terms"], made["request_tokens"]))
    return pl.concat(found)


def _tune(
    found: pl.DataFrame,
    fold_of: dict[str, str],
    base: WindowedConfig,
    params: FinetuneParams,
    profile: str,
    resources: Resources,
) -> tuple[dict[str, Any], dict[str, float]]:
    """Tensors by variant, and how well evidence is told from negatives in held-out histories, before and after."""
    names = [OF_ALL, *sorted(set(fold_of.values()))]
    with shown(StageReport("encoders tuned", total=len(names), unit="encoders"), profile) as advance:
        tuned = parallel.gathered(
            _tune_one,
            (found, fold_of, base, params),
            [(name,) for name in names],
            workers=resources.workers,
            address=resources.address,
            memory=_BYTES_A_TUNING,
            advance=advance,
        )
    frozen, after, n = (np.array([ranks[place] for _, ranks in tuned[1:]]) for place in range(3))
    return dict(zip(names, (tensors for tensors, _ in tuned), strict=True)), {
        "held_out_mrr_frozen": float((frozen * n).sum() / n.sum()),
        "held_out_mrr_tuned": float((after * n).sum() / n.sum()),
    }


def parts_of(found: pl.DataFrame, fold_of: dict[str, str], variant: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The examples that a variant learns from, and those that it is checked on: of its fold, which it has not seen."""
    fold = pl.col("history_id").replace_strict(fold_of, return_dtype=pl.String)
    return found.filter(fold != variant), found.filter(fold == variant)


def _tune_one(
    shared: tuple[pl.DataFrame, dict[str, str], WindowedConfig, FinetuneParams], variant: str
) -> tuple[Any, tuple[float, float, int]]:
    """Runs in a worker: one variant's tensors, and the mean reciprocal rank of held-out evidence without and with it.

    The variant of all histories has none that it could be checked on.
    """
    found, fold_of, base, params = shared
    folder = resolve(base.name).path
    learned, held_out = parts_of(found, fold_of, variant)
    tensors = finetune(folder, _examples(learned), params)
    checked = _examples(held_out)
    frozen, tuned = (mean_reciprocal_rank(folder, state, checked, base.sizes) for state in ({}, tensors))
    return tensors, (frozen, tuned, len(checked))


def _examples(rows: pl.DataFrame) -> list[Example]:
    return [
        Example(request, positive, tuple(negatives), tuple(weights))
        for request, positive, negatives, weights in rows.select(
            "request", "positive", "negatives", "weights"
        ).iter_rows()
    ]


def told(report: FinetuneReport) -> str:
    """What a person reads at the end."""
    counts, metrics, registered = report.counts, report.tuned.metrics, report.registered
    place = f"encoder {report.tuned.identity.choice_id}, registered as {registered.name} version {registered.version}"
    worse = "it does worse than the frozen encoder"
    if not registered.is_champion:
        place += f". It is no champion: {worse}"
    elif metrics["held_out_mrr_tuned"] < metrics["held_out_mrr_frozen"]:
        place += f" (champion, for want of another: {worse})"
    else:
        place += " (champion). A ranker that learned from another encoder's scores is to be trained anew"
    return "\n".join(
        (
            f"tuned on {counts['examples']:,} evidence turns of {counts['requests']:,} requests in "
            f"{counts['histories']} histories, {counts['folds']} folds",
            "mean reciprocal rank of evidence among its negatives, in histories not learned from: "
            f"{metrics['held_out_mrr_frozen']:.4f} before, {metrics['held_out_mrr_tuned']:.4f} after",
            place,
        )
    )

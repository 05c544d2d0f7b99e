"""The job: features up to date, a cross-validation, the fit on all, and everything that is known of it registered."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow.compute as pc

from cluster import rayenv
from cluster.lake import Lake
from jobs.code_version import code_version
from jobs.config import Profile
from jobs.graph import stages_to_features
from jobs.ranker_suits import scored_by
from jobs.run import Resources
from jobs.train import plots
from jobs.train.card import Facts, card
from jobs.train.columns import channels_of, groups_of
from jobs.train.crossval import DRAWS, RANKER, SEED, CrossValidation, cross_validation
from jobs.train.data import NothingToLearn, data_digest, gather, held_out
from jobs.train.features import make_features
from jobs.train.fitting import Variant, cross_fit
from jobs.train.folds import FOLDS, assign
from jobs.train.judge import RECALL, judge
from jobs.train.modes import LearnedModes, learn_modes, wants_modes
from jobs.train.pool_sizes import PoolSizes, pool_sizes, sizes_to_try
from jobs.train.scoring import ByFold
from jobs.train.variants import Outcome, ablations, curve, outcome
from models.calibration import fit_calibration
from models.ranker import LightGBMRanker, auc, fit, ndcg_at
from models.ranker_params import RankerParams
from models.registry import RegisteredVersion, log_training
from pipeline.evaluate.by_history import shares
from pipeline.features.groups import Groups, training_groups

SHAP_ROWS = 20_000
"""Candidates, evenly spaced over all, whose contributions are averaged: more change the mean by nothing that shows."""


@dataclass(frozen=True)
class Wanted:
    """What a training is to do beside the fit: the share of histories that it never sees, folds of the
    cross-validation, whether to ablate and to draw a learning curve, and a folder for the ranker."""

    holdout: float = 0.0
    folds: int = FOLDS
    ablate: bool = False
    curve: bool = False
    out: Path | None = None


@dataclass(frozen=True)
class Validated:
    """What the folds gave: nothing (None, empty) with fewer than two histories or folds. `scores` are those of the
    learned candidates, each by the ranker that has not seen it."""

    crossval: CrossValidation | None = None
    scores: npt.NDArray[np.float64] | None = None
    pools: PoolSizes | None = None
    ablation: tuple[Outcome, ...] = ()
    curve: tuple[Outcome, ...] = ()
    modes: LearnedModes | None = None


@dataclass(frozen=True)
class TrainReport:
    """What was fitted, on how much, how well it does, and where it went."""

    ranker: LightGBMRanker
    metrics: dict[str, float]
    counts: dict[str, int]
    version: RegisteredVersion
    digest: str = ""
    validated: Validated = Validated()

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON. A metric that the groups do not allow is null."""
        pools = self.validated.pools
        return {
            "profile": self.ranker.profile,
            "ranker": self.ranker.identity,
            "data_digest": self.digest,
            "params": self.ranker.params.model_dump(),
            "counts": self.counts,
            "metrics": {name: value if math.isfinite(value) else None for name, value in self.metrics.items()},
            **_validated_dict(self.validated),
            "pool_size_advised": None if pools is None else pools.advised,
            "registered": {
                "name": self.version.name,
                "version": self.version.version,
                "champion": self.version.is_champion,
            },
        }


def train(lake: Lake, profile: Profile, resources: Resources, wanted: Wanted = Wanted()) -> TrainReport:
    """Runs the stages up to features, cross-validates on the histories that are not held out, fits on all of these, and
    registers the ranker.

    Raises RunFailed when a stage failed, NothingToLearn when no group has evidence, WorkerDied.
    """
    with rayenv.session(resources.workers, resources.address):
        make_features(lake, profile, resources, with_notes=wants_modes(profile))
        names = profile.learned_features
        features, labels = gather(lake, profile)
        held = held_out(features["history_id"], wanted.holdout)
        learned = training_groups(features.filter(pc.invert(held)), labels, names)
        if not len(learned.group_sizes):
            raise NothingToLearn(
                f"no request of this lake outside the holdout ({wanted.holdout:g}) has evidence in its pool: ingest "
                "labelled histories, or lower --holdout"
            )
        checked = training_groups(features.filter(held), labels, names)
        params = profile.ranker.params(len(learned.group_sizes))
        asked = pc.unique(labels["history_id"].filter(pc.invert(held_out(labels["history_id"], wanted.holdout))))
        validated = _validate(lake, profile, learned, params, asked.to_pylist(), resources, wanted)
    if validated.crossval is not None:
        params = params.model_copy(update={"trees": validated.crossval.trees})
    ranker = fit(
        learned.matrix,
        learned.relevance,
        learned.group_sizes,
        names,
        params,
        seen_histories=learned.history_ids,
        profile=profile.name,
    )
    if validated.scores is not None:
        ranker = replace(ranker, calibration=fit_calibration(validated.scores, learned.relevance))
    if validated.modes is not None:
        ranker = replace(ranker, mode_choice=validated.modes.choice)
    ranker = replace(ranker, scored_by=scored_by(stages_to_features(profile)))
    return _register(ranker, profile, learned, checked, validated, wanted)


def _validate(
    lake: Lake,
    profile: Profile,
    learned: Groups,
    params: RankerParams,
    histories: Sequence[str],
    resources: Resources,
    wanted: Wanted,
) -> Validated:
    """The folds of the ranker itself, and what they and those of its variants say."""
    fold_of = assign(learned.history_ids, wanted.folds)
    if len(set(fold_of.values())) < 2:
        return Validated()
    names = profile.learned_features
    known = [name for column, name in enumerate(names) if not np.isnan(learned.matrix[:, column]).all()]
    ablated = ablations(known, groups_of(profile), channels_of(profile)) if wanted.ablate else []
    shorter = curve(names) if wanted.curve else []
    variants = [Variant(RANKER, names), *ablated, *shorter]
    fitted = cross_fit(learned, names, variants, params, fold_of, profile.name, resources)
    scorers = {found.variant.name: ByFold(found.rankers, fold_of) for found in fitted}
    sizes = sizes_to_try(profile.recall.pool_size)
    outcomes = judge(lake, profile, scorers, histories, resources, RANKER, sizes)
    rows = shares(outcomes.filter(pl.col("policy").is_in(list(scorers))), RANKER, DRAWS, SEED)
    found = {found.variant.name: outcome(learned, found, rows) for found in fitted}
    return Validated(
        crossval=cross_validation(learned, fitted[0], fold_of, outcomes, RECALL),
        scores=fitted[0].scores,
        pools=pool_sizes(outcomes, sizes),
        ablation=tuple(found[variant.name] for variant in [variants[0], *ablated]) if ablated else (),
        curve=tuple(found[variant.name] for variant in [*shorter, variants[0]]) if shorter else (),
        modes=learn_modes(lake, profile, scorers[RANKER], histories, resources) if wants_modes(profile) else None,
    )


def _register(
    ranker: LightGBMRanker,
    profile: Profile,
    learned: Groups,
    checked: Groups,
    validated: Validated,
    wanted: Wanted,
) -> TrainReport:
    metrics = {**_metrics("train", ranker, learned), **_metrics("holdout", ranker, checked)}
    if validated.crossval is not None:
        metrics |= validated.crossval.metrics()
    counts = {
        "groups": len(learned.group_sizes),
        "rows": int(learned.matrix.shape[0]),
        "labels": int((learned.relevance > 0).sum()),
        "histories": len(set(learned.history_ids)),
        "holdout_groups": len(checked.group_sizes),
        "requests_without_labels": learned.n_requests_without_labels,
        "requests_without_evidence_in_pool": learned.n_requests_without_evidence_in_pool,
    }
    digest, code = data_digest(learned, ranker.feature_names), code_version()
    ranker = replace(ranker, metrics=metrics)
    shap = contributions(ranker, learned)
    size = profile.ranker.size_for(counts["groups"])
    facts = Facts(profile, size, digest, code, counts, wanted.holdout, validated.crossval, shap)
    ranker = replace(ranker, card=card(ranker, facts))
    if wanted.out is not None:
        ranker.save(wanted.out)
    params = {
        **ranker.params.model_dump(), "size": size, "holdout": wanted.holdout, "folds": wanted.folds, **counts,
        "data_digest": digest, "code": code,
    }  # fmt: skip
    texts = {"training.json": json.dumps(_validated_dict(validated), indent=2)}
    with tempfile.TemporaryDirectory() as folder:
        draw(ranker, shap, validated, profile, Path(folder))
        version = log_training(ranker, params, metrics, profile.name, texts, Path(folder))
    return TrainReport(ranker, metrics, counts, version, digest, validated)


def contributions(ranker: LightGBMRanker, groups: Groups) -> dict[str, float]:
    """The mean absolute contribution of each feature to a score, over at most SHAP_ROWS candidates."""
    count = min(SHAP_ROWS, len(groups.relevance))
    rows = np.linspace(0, len(groups.relevance) - 1, count).round().astype(np.int64)
    added = ranker.contributions(groups.matrix[rows], ranker.feature_names)
    return dict(zip(ranker.feature_names, np.abs(added[:, :-1]).mean(axis=0).tolist(), strict=True))


def draw(ranker: LightGBMRanker, shap: Mapping[str, float], validated: Validated, profile: Profile, out: Path) -> None:
    """Writes the pictures of a training (PNG) into a folder."""
    gain = ranker.importances()["gain"]
    total = sum(gain.values()) or 1.0
    shares_of_gain = {name: 100 * value / total for name, value in gain.items()}
    plots.importance(shares_of_gain, "Importance by gain", "share of the total gain, %", out / "gain.png")
    label = "mean absolute contribution to a score"
    plots.importance(shap, "Importance by contribution (SHAP)", label, out / "shap.png")
    if validated.ablation:
        plots.ablation(validated.ablation, min(profile.slates.budgets), out / "ablation.png")
    if validated.curve and validated.crossval is not None:
        recall = {
            row.budget: row.slate_completeness.value or 0.0
            for row in validated.crossval.rows
            if (row.policy, row.stratum) == (RECALL, "all")
        }
        plots.learning_curve(validated.curve, recall, out / "curve.png")


def _validated_dict(validated: Validated) -> dict[str, Any]:
    return {
        "cross_validation": None if validated.crossval is None else validated.crossval.as_dict(),
        "pool_sizes": [] if validated.pools is None else [row.as_dict() for row in validated.pools.rows],
        "ablation": [found.as_dict() for found in validated.ablation],
        "curve": [found.as_dict() for found in validated.curve],
        "modes": [] if validated.modes is None else [row.as_dict() for row in validated.modes.regrets],
    }


def _metrics(name: str, ranker: LightGBMRanker, groups: Groups) -> dict[str, float]:
    if not len(groups.group_sizes):
        return {}
    scores = ranker.score(groups.matrix, ranker.feature_names)
    return {
        f"{name}_ndcg_10": ndcg_at(10, groups.relevance, scores, groups.group_sizes),
        f"{name}_auc": auc(groups.relevance, scores),
    }

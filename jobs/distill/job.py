"""The job: features and a teacher's scores, every way fitted and judged by fold, one of them fitted on all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from cluster import rayenv
from cluster.lake import Lake
from jobs.code_version import code_version
from jobs.config import ConfigError, Profile
from jobs.distill.card import Facts, card
from jobs.distill.judging import Validated, validate
from jobs.distill.scores import scores_of_files, scores_of_lake, taught
from jobs.distill.ways import DEFAULT, labels_of, params_of
from jobs.graph import stages_to_features
from jobs.ranker_suits import scored_by
from jobs.run import Resources
from jobs.teacher_stages import Teacher, teacher_stages
from jobs.train.data import NothingToLearn, data_digest
from jobs.train.features import make_features
from jobs.train.folds import FOLDS
from models.ranker import LightGBMRanker, fit
from models.registry import RegisteredVersion, log_training
from pipeline.evaluate.summary import metric_name
from pipeline.features.groups import Groups
from pipeline.features.taught import Taught


@dataclass(frozen=True)
class Wanted:
    """What a distillation is to do: scores from elsewhere (None: the teacher's), folds, the way whose ranker is kept,
    and a folder for it. Every way is judged; agreement with a teacher that may be wrong chooses none."""

    scores: str | None = None
    folds: int = FOLDS
    way: str = DEFAULT
    out: Path | None = None


@dataclass(frozen=True)
class DistillReport:
    """What was fitted, which way, on how much, how well it does, and where it went."""

    ranker: LightGBMRanker
    way: str
    counts: dict[str, int]
    validated: Validated
    digest: str
    version: RegisteredVersion

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        return {
            "profile": self.ranker.profile,
            "ranker": self.ranker.identity,
            "way": self.way,
            "data_digest": self.digest,
            "params": self.ranker.params.model_dump(),
            "counts": self.counts,
            **_told(self.validated),
            "registered": {
                "name": self.version.name,
                "version": self.version.version,
                "champion": self.version.is_champion,
            },
        }


def distill(
    lake: Lake, profile: Profile, resources: Resources, wanted: Wanted = Wanted(), teacher: Teacher | None = None
) -> DistillReport:
    """Runs the stages up to features, and the teacher's where no scores are handed over; fits, judges and registers.

    No label is learned from. Raises ConfigError without scores and teacher, ScoresUnfit, RunFailed when a stage failed,
    NothingToLearn when no candidate of a pool is rated or all are rated 0, WorkerDied.
    """
    handed = None if wanted.scores is None else scores_of_files(wanted.scores)
    if handed is None and teacher is None:
        raise ConfigError(
            f"profile {profile.name} has no teacher: name one, or hand over what one has rated with --scores"
        )
    with rayenv.session(resources.workers, resources.address):
        make_features(lake, profile, resources, more=() if handed is not None else teacher_stages(profile, teacher))
        found = taught(lake, profile, _scores(lake, profile, handed, teacher))
        if not found.scores.any():
            raise NothingToLearn(
                f"no candidate of profile {profile.name} here is rated above 0: {len(found.scores):,} are rated "
                f"0, and {found.n_unknown:,} scores are of what no pool holds. Distil where the scores were made"
            )
        validated = validate(lake, profile, found, wanted.folds, resources)
    way = wanted.way
    params = params_of(way, profile, found).model_copy(update={"trees": validated.trees[way]})
    groups = labels_of(way, profile, found)
    ranker = fit(
        groups.matrix,
        groups.relevance,
        groups.group_sizes,
        profile.learned_features,
        params,
        seen_histories=groups.history_ids,
        profile=profile.name,
    )
    ranker = replace(ranker, scored_by=scored_by(stages_to_features(profile)), metrics=_metrics(validated))
    origin = "scores handed over" if teacher is None or handed is not None else teacher.identity
    return _register(ranker, profile, groups, found, validated, wanted, origin)


def _scores(lake: Lake, profile: Profile, handed: pa.Table | None, teacher: Teacher | None) -> pa.Table:
    if handed is not None:
        return handed
    assert teacher is not None
    return scores_of_lake(lake, profile, teacher)


def _register(
    ranker: LightGBMRanker,
    profile: Profile,
    learned: Groups,
    found: Taught,
    validated: Validated,
    wanted: Wanted,
    origin: str,
) -> DistillReport:
    groups, way = found.groups, wanted.way
    counts = {
        "groups": len(groups.group_sizes),
        "rows": len(found.scores),
        "histories": len(set(groups.history_ids)),
        "scores_unknown": found.n_unknown,
        "scores_failed": found.n_failed,
    }
    digest, code = data_digest(learned, ranker.feature_names), code_version()
    ranker = replace(ranker, card=card(ranker, Facts(profile, way, origin, digest, code, counts, validated)))
    if wanted.out is not None:
        ranker.save(wanted.out)
    params = {
        **ranker.params.model_dump(), "way": way, "teacher": origin, "folds": wanted.folds, **counts,
        "data_digest": digest, "code": code,
    }  # fmt: skip
    texts = {"distillation.json": json.dumps(_told(validated), indent=2)}
    version = log_training(ranker, params, ranker.metrics, profile.name, texts, did="distill")
    return DistillReport(ranker, way, counts, validated, digest, version)


def _told(validated: Validated) -> dict[str, Any]:
    return {
        "agreement": [each.as_dict() for each in validated.agreements],
        "against": validated.against,
        "rows": [row.as_dict() for row in validated.rows],
    }


def _metrics(validated: Validated) -> dict[str, float]:
    """Point values out of fold by name, each after `cv_`."""
    named: Mapping[str, float | None] = {
        **{f"cv_{each.name}_kendall_tau": each.kendall_tau.value for each in validated.agreements},
        **{f"cv_{each.name}_ndcg_64": each.ndcg_64.value for each in validated.agreements},
        **{
            f"cv_{metric_name(row.stratum, row.policy, row.budget, 'slate_completeness')}": row.slate_completeness.value
            for row in validated.rows
        },
    }
    return {name: value for name, value in named.items() if value is not None}

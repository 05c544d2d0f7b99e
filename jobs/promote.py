"""`slatemill promote`: a version becomes champion where it is shown to be no worse than the present one."""

from __future__ import annotations

import getpass
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow.compute as pc

from cluster import rayenv, tables
from cluster.cache import MarkCache
from cluster.errors import LakeError
from cluster.lake import Lake
from jobs.config import ConfigError, Profile, load_profile
from jobs.graph import stages_to_features
from jobs.ranker_suits import has_own_scores, require_own_features, require_own_scores
from jobs.run import Resources
from jobs.train.data import by_bucket, gather
from jobs.train.features import make_features
from jobs.train.judge import judge
from jobs.train.scoring import by_one
from models.registry import Registered, crown, log_evaluation, tag
from pipeline.evaluate.by_history import Shares, shares
from pipeline.evaluate.summary import metric_name

CHALLENGER, CHAMPION = "challenger", "champion"

_READ = ("requests", "labels", "turns", "sources")


class NothingToCompare(ValueError):
    """No request is left that both rankers can be judged by."""


@dataclass(frozen=True)
class Bout:
    """How challenger and champion did on the same requests: rows (all, kappa >= 2) of both at each budget, the digest
    of the data, histories and requests that were left, and histories left out since one of the two was trained on them.
    """

    rows: tuple[Shares, ...]
    digest: str
    n_histories: int
    n_requests: int
    n_left_out: int

    def of(self, policy: str, budget: int, stratum: str = "all") -> Shares:
        """The row of one ranker, budget and stratum."""
        return next(row for row in self.rows if (row.policy, row.budget, row.stratum) == (policy, budget, stratum))

    @property
    def budgets(self) -> list[int]:
        """The budgets, ascending."""
        return sorted({row.budget for row in self.rows})

    def lower_bound(self, budget: int) -> float:
        """The lower end of the interval of the difference at one budget, over requests of any kappa."""
        low = self.of(CHALLENGER, budget).difference.low
        assert low is not None
        return low


@dataclass(frozen=True)
class Promotion:
    """What was decided by which bout (none where there was no champion, or nothing to compare on), and `why_not`: empty
    where the version is not inferior."""

    chosen: Registered
    champion: Registered | None
    margin: float
    bout: Bout | None
    why_not: str
    forced: bool

    @property
    def promoted(self) -> bool:
        """Whether the version is champion now."""
        return not self.why_not or self.forced

    def as_dict(self) -> dict[str, Any]:
        """Plain literals, for JSON."""
        bout = self.bout
        return {
            "name": self.chosen.name,
            "version": self.chosen.version,
            "ranker": self.chosen.ranker.identity,
            "champion": None if self.champion is None else self.champion.version,
            "promoted": self.promoted,
            "forced": self.forced,
            "why_not": self.why_not or None,
            "margin": self.margin,
            "data_digest": None if bout is None else bout.digest,
            "histories": 0 if bout is None else bout.n_histories,
            "requests": 0 if bout is None else bout.n_requests,
            "histories_left_out": 0 if bout is None else bout.n_left_out,
            "rows": [] if bout is None else [row.as_dict() for row in bout.rows],
        }


def promote(
    lake: Lake,
    profile: Profile,
    chosen: Registered,
    champion: Registered | None,
    margin: float,
    resources: Resources,
    force: bool = False,
    draws: int = 10_000,
    seed: int = 0,
) -> Promotion:
    """Makes `chosen` the champion if it is not inferior at any of the profile's budgets, or by force.

    Not inferior: the lower end of the 95% interval of the paired difference in slate completeness lies above -margin.
    Every budget must pass, so that their number calls for no correction (intersection-union: Berger 1982). What was
    found is written to the version's tags and to MLflow. Raises NothingToCompare, unless forced, where no request is
    left; RankerError for a version of other features or scores than the profile's; RunFailed, WorkerDied,
    ChampionChanged.
    """
    require_own_features(chosen.ranker, profile)
    require_own_scores(chosen.ranker, profile, stages_to_features(profile))
    if champion is not None and champion.version == chosen.version:
        return Promotion(chosen, champion, margin, None, "", forced=False)
    bout, why_not = None, ""
    if champion is not None:
        try:
            bout = fight(lake, profile, chosen, champion, resources, draws, seed)
            why_not = verdict(bout, margin)
        except NothingToCompare as error:
            if not force:
                raise
            why_not = str(error)
    decided = Promotion(chosen, champion, margin, bout, why_not, forced=force and bool(why_not))
    tags = _tags(decided, lake)  # before anything changes
    if decided.promoted:
        crown(chosen, champion)
    _write_down(decided, lake, tags)
    return decided


def profile_of(chosen: Registered, named: str | None) -> Profile:
    """The profile that a version is to be judged by: its own, read by its name or from the file that is named.

    Raises ConfigError, also for another profile than its own.
    """
    own = chosen.ranker.profile
    profile = load_profile(named or own)
    if profile.name != own:
        raise ConfigError(f"{chosen.name}/{chosen.version} was trained for profile {own}, not {profile.name}")
    return profile


def verdict(bout: Bout, margin: float) -> str:
    """Why the challenger is not shown to be as good; empty where it is."""
    failed = [budget for budget in bout.budgets if bout.lower_bound(budget) <= -margin]
    if not failed:
        return ""
    differences = [bout.of(CHALLENGER, budget).difference for budget in failed]
    worse = any(found.high is not None and found.high < 0 for found in differences)
    where = ", ".join(f"{budget:,}" for budget in failed)
    if worse:
        return f"it is worse than the champion at {where} tokens"
    return (
        f"it may be worse than the champion by more than the margin of {margin:g} at {where} tokens: "
        f"{bout.n_requests:,} requests cannot tell"
    )


def fight(
    lake: Lake,
    profile: Profile,
    chosen: Registered,
    champion: Registered,
    resources: Resources,
    draws: int,
    seed: int,
) -> Bout:
    """Fills the slates of both on the labelled requests of histories that neither was trained on.

    Raises NothingToCompare where none is left, or where one takes features or scores that the profile does not make.
    """
    for which, one in ((CHALLENGER, chosen), (CHAMPION, champion)):
        lacking = sorted(set(one.ranker.feature_names) - set(profile.features))
        if lacking:
            raise NothingToCompare(
                f"the {which}, version {one.version}, takes features that profile {profile.name} does not make: "
                f"{', '.join(lacking)}"
            )
        if not has_own_scores(one.ranker, stages_to_features(profile)):
            raise NothingToCompare(
                f"the {which}, version {one.version}, learned from the scores of another model, or of another tuning "
                f"of one, than profile {profile.name} has now: no run takes it (--force promotes uncompared)"
            )
    with rayenv.session(resources.workers, resources.address):
        make_features(lake, profile, resources)
        _, labels = gather(lake, profile)
        asked = set(pc.unique(labels["history_id"]).to_pylist())
        left = sorted(asked - set(chosen.ranker.seen_histories) - set(champion.ranker.seen_histories))
        if not left:
            raise NothingToCompare(
                f"of {len(asked):,} histories with known evidence none is left that neither version was trained on: "
                "ingest others, or train both with --holdout, which keeps the same histories from each"
            )
        scorers = {CHALLENGER: by_one(chosen.ranker, left), CHAMPION: by_one(champion.ranker, left)}
        outcomes = judge(lake, profile, scorers, left, resources)
    kept = outcomes.filter(outcomes["policy"].is_in(list(scorers)))
    rows = tuple(shares(kept, CHAMPION, draws, seed))
    return Bout(rows, digest_of(lake, profile, left), len(left), rows[0].n, len(asked) - len(left))


def digest_of(lake: Lake, profile: Profile, histories: Sequence[str]) -> str:
    """SHA-256 (hex) of what rankers are compared on: the histories, and the digests of the files that slates are made
    of and judged by."""
    cache = MarkCache()
    digests = []
    for bucket, batches in by_bucket(lake).items():
        for batch in batches:
            paths = [lake.path(table, bucket, batch.name) for table in _READ]
            paths.append(lake.path("features", bucket, batch.name, ("profile", profile.name)))
            for path in paths:
                mark = tables.read_mark(lake.storage, path, cache)
                if mark is None:
                    raise LakeError(f"{path} is missing, though its batch is committed: restore it")
                digests.append([path, mark.digest])
    about = [list(histories), digests, list(profile.slates.budgets), profile.slates.style]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def _write_down(decided: Promotion, lake: Lake, tags: Mapping[str, str]) -> None:
    """Tags of the version, and a run in MLflow: who decided what, when, and by which numbers."""
    tag(decided.chosen, {f"promotion.{name}": value for name, value in tags.items()})
    numbers = decided.as_dict()
    flat = {name: value for name, value in numbers.items() if name != "rows"}
    log_evaluation(
        _metrics(decided.bout),
        {**flat, "lake": lake.url},
        {"promotion.json": json.dumps(numbers, indent=2)},
        run_name=f"promote {decided.chosen.name}/{decided.chosen.version}",
    )


def _tags(decided: Promotion, lake: Lake) -> dict[str, str]:
    told = {
        "promoted": str(decided.promoted).lower(),
        "forced": str(decided.forced).lower(),
        "why_not": decided.why_not,
        "champion": "" if decided.champion is None else decided.champion.version,
        "margin": f"{decided.margin:g}",
        "by": _who(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "lake": lake.url,
    }
    if decided.bout is None:
        return told
    told["data_digest"] = decided.bout.digest
    for budget in decided.bout.budgets:
        ours, theirs = decided.bout.of(CHALLENGER, budget), decided.bout.of(CHAMPION, budget)
        told[f"at_{budget}"] = (
            f"{ours.slate_completeness.text()} against {theirs.slate_completeness.text()}, difference "
            f"{ours.difference.text(signed=True, interval=True)}, n {ours.n}"
        )
    return told


def _who() -> str:
    """The user's name; their number where the machine has no name for it, as in a container."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _metrics(bout: Bout | None) -> dict[str, float]:
    found: dict[str, float] = {}
    for row in () if bout is None else bout.rows:
        name, difference = metric_name(row.stratum, row.policy, row.budget, "slate_completeness"), row.difference
        found[name] = row.slate_completeness.value or 0.0
        if None not in (difference.value, difference.low, difference.high):
            found |= {
                metric_name(row.stratum, row.policy, row.budget, f"difference_{end}"): getattr(difference, end)
                for end in ("value", "low", "high")
            }
    return found

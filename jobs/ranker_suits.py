"""Whether a ranker suits a run: the features that it takes, and the models whose scores these are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from cluster.stage import Stage
from jobs.config import Profile
from models.ranker import LightGBMRanker, RankerError

_DIGITS = 16


def require_own_features(ranker: LightGBMRanker, profile: Profile) -> None:
    """Raises RankerError for a ranker that takes features which the profile does not make: of those that it makes, a
    ranker takes its own, by name."""
    lacking = [name for name in ranker.feature_names if name not in profile.features]
    if not lacking:
        return
    raise RankerError(
        f"the ranker (of profile {ranker.profile}) was trained on features that profile {profile.name} does not make "
        f"({', '.join(lacking[:5])}{' ...' if len(lacking) > 5 else ''}): run `slatemill train LAKE --profile "
        f"{profile.name}`, or name another with --ranker"
    )


def scored_by(to_features: Iterable[Stage]) -> tuple[str, ...]:
    """Which models the features are scores of, given the stages that make them: digests of their identities, sorted."""
    identities = {text for stage in to_features for text in stage.identities}
    return tuple(sorted(hashlib.sha256(text.encode()).hexdigest()[:_DIGITS] for text in identities))


def has_own_scores(ranker: LightGBMRanker, to_features: Iterable[Stage]) -> bool:
    """Whether these stages have the models whose scores a ranker learned from."""
    return set(ranker.scored_by) <= set(scored_by(to_features))


def require_own_scores(ranker: LightGBMRanker, profile: Profile, to_features: Iterable[Stage]) -> None:
    """Raises RankerError for a ranker that learned from scores of a model which these stages do not have: a feature of
    the same name is then another."""
    if has_own_scores(ranker, to_features):
        return
    raise RankerError(
        f"the ranker (of profile {ranker.profile}) learned from the scores of another model, or of another tuning of "
        f"one, than this run has: run `slatemill train LAKE --profile {profile.name}` and make that the champion "
        "(`promote --force`: the two cannot be compared), or name another with --ranker"
    )

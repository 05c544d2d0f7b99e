"""Which ranker a run of a profile uses: what is named, the profile's champion, or one that comes with slatemill."""

from __future__ import annotations

from jobs.config import Profile, load_profile
from models.ranker import LightGBMRanker, RankerError
from models.registry import load_ranker
from models.shipped import PREFIX, names, shipped


def ranker_for(profile: Profile, named: str | None) -> tuple[LightGBMRanker, str] | None:
    """The ranker, and the name or place that it can be loaded from again; None where there is none.

    Without a champion one that comes with slatemill is taken where it suits. Raises as models.registry.load_ranker, and
    RankerError where one that comes with slatemill is named and does not suit.
    """
    if named is not None and named.startswith(PREFIX) and named.removeprefix(PREFIX) in names():
        other = named.removeprefix(PREFIX)
        if not _scores_alike(profile, load_profile(other)):
            raise RankerError(
                f"{named} learned from candidates as profile {other} recalls and scores them; profile {profile.name} "
                f"has other channels, weights or models: run `slatemill train LAKE --profile {profile.name}`"
            )
    return load_ranker(named, profile.name) or _shipped(profile)


def _shipped(profile: Profile) -> tuple[LightGBMRanker, str] | None:
    """The first that takes no feature which the profile does not make, and learned from features made as it makes them:
    scores of another model, or of other channels, mean something else."""
    for name in names():
        if not _scores_alike(profile, load_profile(name)):
            continue
        ranker = shipped(f"{PREFIX}{name}")
        if ranker is not None and set(ranker.feature_names) <= set(profile.features):
            return ranker, f"{PREFIX}{name}"
    return None


def _scores_alike(profile: Profile, other: Profile) -> bool:
    """Whether two profiles score candidates by the same models and channels. A pool may be longer or shorter, and codes
    may be stored or not: scores are the same."""
    recall = profile.recall.model_copy(update={"pool_size": other.recall.pool_size})
    late = profile.late_interaction.model_copy(update={"source": other.late_interaction.source})
    return (recall, late, profile.embedder, profile.cross_encoder) == (
        other.recall,
        other.late_interaction,
        other.embedder,
        other.cross_encoder,
    )

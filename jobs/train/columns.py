"""The features of a profile by what they tell of, and by the channel whose scores they are made of."""

from __future__ import annotations

from jobs.config import Profile
from pipeline.features.of_channel import FAMILIES
from pipeline.features.registry import feature


def groups_of(profile: Profile) -> dict[str, tuple[str, ...]]:
    """The features of each group, as pipeline.features.registry has them."""
    grouped: dict[str, list[str]] = {}
    for name in profile.features:
        grouped.setdefault(feature(name, profile.recall.scored).group, []).append(name)
    return {group: tuple(names) for group, names in grouped.items()}


def channels_of(profile: Profile) -> dict[str, tuple[str, ...]]:
    """The features of each channel and view that the profile has: `bm25_before` is of bm25, whatever its group."""
    return {
        channel: tuple(name for name in profile.features if _is_of(name, channel)) for channel in profile.recall.scored
    }


def _is_of(name: str, channel: str) -> bool:
    return name in {f"{channel}_{family}" for family in FAMILIES}

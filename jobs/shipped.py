"""Rankers that come with slatemill, so that a profile has a learned order before anything was trained."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from models.ranker import LightGBMRanker


def shipped_ranker(profile: str) -> tuple[LightGBMRanker, str] | None:
    """The ranker that came with slatemill for a profile, and a line that says so; None where none did."""
    folder = shipped_folder(profile)
    if not (folder / "ranker.json").is_file():
        return None
    return LightGBMRanker.load(folder), shipped_line(profile)


def shipped_folder(profile: str) -> Path:
    """Where the ranker of a profile would lie."""
    return Path(str(resources.files("jobs") / "rankers" / profile))


def shipped_line(profile: str) -> str:
    """What is said of a ranker that came with slatemill."""
    return f"the one that came with slatemill for profile {profile}"

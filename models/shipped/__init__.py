"""Rankers that come with slatemill: a folder for each, called like the profile whose features it takes.

They learned from generated histories, so that whoever has no labels has a ranker. `docs/shipped.py` makes them.
"""

from __future__ import annotations

from pathlib import Path

from models.ranker import ABOUT_FILE, LightGBMRanker

PREFIX = "shipped/"
"""What the name of a ranker that comes with slatemill begins with."""

FOLDER = Path(__file__).parent


def names() -> tuple[str, ...]:
    """The profiles that a ranker comes for, sorted."""
    return tuple(sorted(folder.name for folder in FOLDER.iterdir() if (folder / ABOUT_FILE).exists()))


def shipped(spec: str) -> LightGBMRanker | None:
    """The ranker that `shipped/PROFILE` names; None where `spec` names none of them.

    Raises RankerError for one that was changed since it was written.
    """
    name = spec.removeprefix(PREFIX)
    return LightGBMRanker.load(FOLDER / name) if spec.startswith(PREFIX) and name in names() else None

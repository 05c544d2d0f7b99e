"""Names that the command line offers, and those near a name that there is not. Nothing slow is imported, for Tab."""

from __future__ import annotations

import difflib
import glob
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

DEFAULT_PROFILE = "default"
"""The profile of commands that name none."""

PROFILE_FILES = (".yaml", ".yml")

NEAR = 3
"""How many names like one that there is not are named."""

_NEIGHBOURS = 1000
"""Names on either side, in their order, that are compared letter by letter with one that is unknown."""


def profile_names() -> list[str]:
    """Names of the profiles that come with slatemill."""
    folder = resources.files("jobs") / "profiles"
    return sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))


def complete_profile(incomplete: str) -> list[str]:
    """Profiles that begin so: those that come with slatemill, and YAML files."""
    near = sorted(glob.glob(f"{glob.escape(incomplete)}*"))
    folders = [f"{path}/" for path in near if Path(path).is_dir()]
    files = [path for path in near if path.endswith(PROFILE_FILES)]
    return [*(name for name in profile_names() if name.startswith(incomplete)), *folders, *files]


def complete_format(incomplete: str) -> list[str]:
    """Formats that begin so."""
    from pipeline.ingest.formats import FORMATS  # noqa: PLC0415 - only what completes a format may wait for it

    return [name for name in ("auto", *FORMATS) if name.startswith(incomplete)]


def near_names(unknown: str, names: pl.Series, likeness: float = 0.6) -> list[str]:
    """The NEAR names most like an unknown one (of difflib's ratio at least `likeness`), the likest first.

    Of those only that hold it or stand next to it in order: a lake has millions.
    """
    ordered = names.unique().sort()
    at = int(ordered.search_sorted(unknown))
    around = ordered[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS]
    holding = ordered.filter(ordered.str.contains(unknown, literal=True)).head(_NEIGHBOURS)
    return difflib.get_close_matches(unknown, holding.append(around).unique().sort(), n=NEAR, cutoff=likeness)

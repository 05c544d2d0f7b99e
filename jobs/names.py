"""Names that the command line offers: found without importing what they name, for Tab must not wait."""

from __future__ import annotations

import glob
from importlib import resources
from pathlib import Path

PROFILE_FILES = (".yaml", ".yml")


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

"""Places that may not be there yet."""

from __future__ import annotations

from pathlib import Path


def nearest_folder(path: Path) -> Path:
    """The folder, or the nearest above it that is there."""
    return next(folder for folder in (path, *path.parents) if folder.is_dir())

"""The user's cache folder: what is derived once and may be lost at any time."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def user_cache() -> Path:
    """slatemill's folder under XDG_CACHE_HOME, else under ~/.cache. It need not exist."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "slatemill"


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that readers see all of it or none of it. Raises OSError where the folder cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise

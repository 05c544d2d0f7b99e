"""Which code ran: what a model card says, so that a ranker can be made again."""

from __future__ import annotations

import subprocess
from importlib import metadata
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]


def code_version(root: Path = _ROOT) -> str:
    """The version of the package and, in a clone, its commit; `with changes` where the clone has any."""
    version = f"slatemill {metadata.version('slatemill')}"
    if not (root / ".git").exists():
        return version  # installed: a repository around it is somebody else's
    commit = _git(root, "rev-parse", "HEAD")
    if commit is None:
        return version
    changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    return f"{version}, commit {commit}{' with changes' if changed else ''}"


def _git(root: Path, *words: str) -> str | None:
    """What git says; None where it is not installed, or refuses."""
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()

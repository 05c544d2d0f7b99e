"""What the long tests of the jobs share: lakes.py, and a shell whose traces stay in the test's folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lakes import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Runs `slatemill` as a person would, with MLflow's store and all caches below tmp_path."""
    return Shell(tmp_path)

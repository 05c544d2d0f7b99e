"""What all tests share: where the real data lies, and that nothing reaches a model hub."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

# What a property costs depends on the machine; that it ends is what pytest-timeout sees to.
settings.register_profile("slatemill", deadline=None)
settings.load_profile("slatemill")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real development data: SLATEMILL_DATA, or shared/data beside the clone."""
    folder = Path(os.environ.get("SLATEMILL_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "locomo").is_dir():
        pytest.skip(f"real data is absent: no folder {folder.name}/locomo; set SLATEMILL_DATA to where it lies")
    return folder

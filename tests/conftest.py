"""What all tests share: where the real data lies, and that nothing reaches a model hub."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent / "helpers"))  # what tests of several folders share

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

# What a property costs depends on the machine; that it ends is what pytest-timeout sees to.
settings.register_profile("slatemill", deadline=None)
settings.load_profile("slatemill")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real development data: SLATEMILL_DATA, or shared/data beside the clone.

    Without it a test skips; where it is named or there, a file that it lacks fails the test.
    """
    named = os.environ.get("SLATEMILL_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if named is None and not folder.is_dir():
        pytest.skip("real data is absent: no folder shared/data beside the clone; set SLATEMILL_DATA to where it lies")
    return folder

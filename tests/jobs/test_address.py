"""`--address`: a run on a cluster that somebody else has started, as Ray starts it by default: with a token."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from inside import ITEMS, stored
from lakes import DRIVER

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


@pytest.fixture
def started(tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a cluster, and the environment of somebody who knows its token."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = tmp_path / "token"
    token.write_text("a" * 64)
    knowing = {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
    ray = Path(sys.executable).with_name("ray")
    # A short folder of its own: sockets have short names, and other clusters of this machine are left alone.
    command = [str(ray), "start", "--head", "--block", f"--port={port}", "--num-cpus=2", "--include-dashboard=false"]
    process = subprocess.Popen(
        command, env=knowing, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as asking:
            if asking.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.5)
    try:
        yield f"127.0.0.1:{port}", knowing
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def test_a_run_works_on_a_cluster_that_is_there_and_without_its_token_says_what_is_missing(started, tmp_path):
    address, knowing = started
    lake = stored(tmp_path, ITEMS[:2])

    def ran_there(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(DRIVER), str(tmp_path / "peak"), "run", lake.url, "-p", "lexical"]
        environment = {**environment, "MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path}/mlflow.db"}
        return subprocess.run(
            [*command, "--address", address], env=environment, capture_output=True, text=True, check=False
        )

    strange = {name: value for name, value in knowing.items() if not name.startswith("RAY_AUTH")}
    refused = ran_there({**strange, "HOME": str(tmp_path), "RAY_gcs_rpc_server_connect_timeout_s": "2"})
    assert refused.returncode == 2
    assert "set RAY_AUTH_MODE=token" in refused.stderr.replace("\n", " ")
    assert "Traceback" not in refused.stderr
    done = ran_there(knowing)
    assert done.returncode == 0, done.stderr
    assert "slates" in done.stdout

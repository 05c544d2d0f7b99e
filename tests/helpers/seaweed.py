"""A real S3 server for tests: SeaweedFS on free ports of loopback, with its data in a folder of the test."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec

KEY, SECRET = "AKSLATEMILLTESTS", "a/secret+of/the-tests"
PUBLIC_BUCKET = "public"
"""A bucket that anybody may read."""

_PORTS = [f"{part}.port{kind}" for part in ("master", "volume", "filer", "s3") for kind in ("", ".grpc")]
_ACTIONS = ["Admin", "Read", "List", "Tagging", "Write"]
_IDENTITIES = [
    {"name": "tests", "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": _ACTIONS},
    {"name": "anonymous", "actions": [f"Read:{PUBLIC_BUCKET}", f"List:{PUBLIC_BUCKET}"]},
]
_PATIENCE = 60.0


@dataclass(frozen=True)
class Server:
    """A server that answers: its address, and the environment in which S3's clients find it and nothing else."""

    endpoint: str
    environment: dict[str, str]

    def put(self, folder: str, objects: Mapping[str, bytes]) -> str:
        """Writes objects below `bucket/key`, as another process would, and makes the bucket where it is missing."""
        fs = self._client()
        bucket = folder.partition("/")[0]
        if not fs.exists(bucket):
            fs.mkdir(bucket)
        for key, data in objects.items():
            fs.pipe_file(f"{folder}/{key}", data)
        return folder

    def delete(self, path: str) -> None:
        """Removes an object, as another process would."""
        self._client().rm_file(path)

    def signed(self, path: str) -> str:
        """An address under which an object may be read by anybody for a while."""
        return str(self._client().sign(path))

    def _client(self) -> Any:
        return fsspec.filesystem("s3", endpoint_url=self.endpoint, key=KEY, secret=SECRET)


def weed() -> str | None:
    """SeaweedFS's command, of this environment or on the path; None where there is none."""
    return shutil.which("weed", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


@contextmanager
def seaweed(command: str, folder: Path) -> Iterator[Server]:
    """A server that has begun to answer, with an empty store; it is killed at the end."""
    (folder / "data").mkdir(parents=True)
    (folder / "s3.json").write_text(json.dumps({"identities": _IDENTITIES}))
    ports = dict(zip(_PORTS, _free_ports(len(_PORTS)), strict=True))
    options = {
        "ip": "127.0.0.1",
        "ip.bind": "127.0.0.1",
        "dir": "data",
        "filer.localSocket": "filer.sock",
        "s3.localSocket": "s3.sock",
        "s3.config": "s3.json",
        "s3.port.iceberg": 0,
        "s3.port.lance": 0,
        "master.telemetry": "false",
        "master.volumeSizeLimitMB": 64,
        "volume.max": 100,  # every bucket takes several
        "volume.minFreeSpace": "1MiB",
        **ports,
    }
    arguments = [command, "-logtostderr=true", "server", "-filer", "-s3"]
    arguments += [f"-{name}={value}" for name, value in options.items()]
    # Nothing of the developer's own environment: the server would let in the keys that it finds there.
    alone = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder)}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(arguments, cwd=folder, env=alone, stdout=log, stderr=log)
    try:
        _wait(process, ports["s3.port"], folder / "log")
        endpoint = f"http://127.0.0.1:{ports['s3.port']}"
        yield Server(endpoint, _environment(endpoint, folder))
    finally:
        process.kill()
        process.wait()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Until the port is open."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"SeaweedFS did not start (exit code {process.poll()}):\n{log.read_text()[-3000:]}")


def _environment(endpoint: str, folder: Path) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_CONFIG_FILE": str(folder / "no-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(folder / "no-credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }

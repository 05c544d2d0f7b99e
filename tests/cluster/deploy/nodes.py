"""A Ray cluster of three nodes on this machine, each a `ray start` of its own: what a job is submitted to."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

BIN = Path(sys.executable).parent
START_LIMIT_S = 60.0


@dataclass(frozen=True)
class Node:
    """A `ray start --block` and all that it has started."""

    process: subprocess.Popen[bytes]

    def processes(self) -> set[int]:
        """The node itself and its descendants: GCS or raylet, agents and workers."""
        found: set[int] = set()
        ahead = [self.process.pid]
        while ahead:
            found.add(pid := ahead.pop())
            with contextlib.suppress(OSError):
                for task in Path(f"/proc/{pid}/task").iterdir():
                    ahead += map(int, (task / "children").read_text().split())
        return found

    def at_work(self) -> bool:
        """Whether one of its workers has a call under way: Ray names a worker's process after it."""
        return any(title.startswith("ray::") and "IDLE" not in title for title in map(_title, self.processes()))

    def kill(self) -> None:
        """Ends it as a machine ends that fails: every process at once, without a word."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(30)


@dataclass
class Nodes:
    """A head without CPUs and its workers; `environment` is that of somebody who may submit jobs."""

    dashboard: str
    environment: dict[str, str]
    folder: Path
    workers: list[Node] = field(default_factory=list)

    def submitting(self, *entrypoint: object) -> subprocess.Popen[str]:
        """`ray job submit`, which ends when the job does; under way."""
        command = [str(BIN / "ray"), "job", "submit", "--address", self.dashboard, "--", *map(str, entrypoint)]
        return subprocess.Popen(
            command, env=self.environment, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )


@contextmanager
def running(environment: Mapping[str, str], workers: int) -> Iterator[Nodes]:
    """A cluster with token, dashboard and `workers` nodes of one CPU, ended with all its processes."""
    # Short, because names of sockets are: pytest's own folders are too deep.
    folder = Path(tempfile.mkdtemp(prefix="slm-", dir="/tmp"))
    (folder / "token").write_text("a" * 64)
    gcs, dashboard, client = _free_ports(3)
    knowing = {**environment, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(folder / "token")}
    nodes = Nodes(f"http://127.0.0.1:{dashboard}", knowing, folder)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        head = ["--head", f"--port={gcs}", "--num-cpus=0", f"--temp-dir={folder / 'head'}"]
        head += ["--include-dashboard=true", f"--dashboard-port={dashboard}", f"--ray-client-server-port={client}"]
        _start(stack, nodes, *head)
        _wait(lambda: _listens(gcs) and _listens(dashboard))
        for number in range(workers):
            join = [f"--address=127.0.0.1:{gcs}", "--num-cpus=1", f"--temp-dir={folder / str(number)}"]
            nodes.workers.append(_start(stack, nodes, *join))
        _wait(lambda: all(_has_raylet(node) for node in nodes.workers))
        yield nodes


def _start(stack: ExitStack, nodes: Nodes, *options: str) -> Node:
    agent, runtime, metrics = _free_ports(3)
    ports = ["--min-worker-port=0", "--max-worker-port=0", f"--dashboard-agent-listen-port={agent}",
             f"--runtime-env-agent-port={runtime}", f"--metrics-export-port={metrics}"]  # fmt: skip
    command = [str(BIN / "ray"), "start", "--block", "--object-store-memory=100000000", *ports, *options]
    with (nodes.folder / f"said-{metrics}").open("wb") as said:
        process = subprocess.Popen(command, env=nodes.environment, stdout=said, stderr=said, start_new_session=True)
    node = Node(process)
    stack.callback(node.kill)
    return node


def _has_raylet(node: Node) -> bool:
    return any(Path(title.split("\0")[0]).name == "raylet" for title in map(_title, node.processes()))


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def _free_ports(count: int) -> Sequence[int]:
    with ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]


def _wait(until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while not until():
        assert time.monotonic() < deadline, "the cluster did not start"
        time.sleep(0.2)

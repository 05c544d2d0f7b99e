"""Runs the toy stages on a cluster of three nodes and takes one away under way; prints what came of it as JSON."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import ray
import toy_stages
from ray.cluster_utils import Cluster

from cluster.lake import Lake


def lose(cluster: Cluster, node: Any, folder: Path) -> None:
    """Takes a node away, as a machine that fails: while it has just begun a shard, with all its processes."""
    while len(list(folder.glob("*.ended"))) < 6 or not begun_on(node, folder, within_s=0.5):
        time.sleep(0.02)
    cluster.remove_node(node, allow_graceful=False)
    for mark in begun_on(node, folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(mark.stem.rsplit("-", 1)[1]), signal.SIGKILL)


def begun_on(node: Any, folder: Path, within_s: float = 3600) -> list[Path]:
    """Marks of the shards that a node has begun and not ended."""
    marks = folder.glob(f"*-{node.node_id}-*.begun")
    since = time.time() - within_s
    return [mark for mark in marks if mark.stat().st_mtime > since and not mark.with_suffix(".ended").exists()]


if __name__ == "__main__":
    url, folder = sys.argv[1], Path(sys.argv[2])
    ray.cloudpickle.register_pickle_by_value(toy_stages)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    kept, lost = (cluster.add_node(num_cpus=2) for _ in range(2))
    cluster.wait_for_nodes()
    loser = threading.Thread(target=lose, args=(cluster, lost, folder))
    loser.start()
    slow = toy_stages.Behaviour(sleep_s=2.0, once=str(folder))
    path = toy_stages.stages(double=slow, vectors=slow)
    report = toy_stages.run(Lake.open(url), path, address=cluster.address, deadline_s=60)
    loser.join()
    told = {
        "exit_code": report.exit_code,
        "done": [stage.done for stage in report.stages],
        "lost_in_mid_shard": bool(begun_on(lost, folder)),
        "failures": [failure.reason for failure in report.failures],
    }
    print(json.dumps(told))
    cluster.shutdown()

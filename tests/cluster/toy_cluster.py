"""Runs the toy stages on a cluster of three nodes and takes one away under way; prints what came of it as JSON."""

from __future__ import annotations

import json
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
    """Takes a node away while a shard is being computed on it, not at the very start."""
    while len(list(folder.glob("*.ended"))) < 6 or not under_way(node, folder):
        time.sleep(0.02)
    cluster.remove_node(node, allow_graceful=False)


def under_way(node: Any, folder: Path) -> int:
    """Number of shards that a node has begun and not ended."""
    return sum(not mark.with_suffix(".ended").exists() for mark in folder.glob(f"*-{node.node_id}-*.begun"))


if __name__ == "__main__":
    url, folder = sys.argv[1], Path(sys.argv[2])
    ray.cloudpickle.register_pickle_by_value(toy_stages)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    kept, lost = (cluster.add_node(num_cpus=2) for _ in range(2))
    cluster.wait_for_nodes()
    loser = threading.Thread(target=lose, args=(cluster, lost, folder))
    loser.start()
    slow = toy_stages.Behaviour(sleep_s=0.4, once=str(folder))
    path = toy_stages.stages(double=slow, vectors=slow)
    report = toy_stages.run(Lake.open(url), path, address=cluster.address, deadline_s=60)
    loser.join()
    told = {
        "exit_code": report.exit_code,
        "done": [stage.done for stage in report.stages],
        "lost_in_mid_shard": under_way(lost, folder) > 0,
        "failures": [failure.reason for failure in report.failures],
    }
    print(json.dumps(told))
    cluster.shutdown()

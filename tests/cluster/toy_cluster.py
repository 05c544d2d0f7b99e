"""Runs the toy stages on a cluster of three nodes and takes one away under way; prints what came of it as JSON."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

import ray
import toy_stages
from ray.cluster_utils import Cluster

from cluster.lake import Lake


def lose(cluster: Cluster, node: object, folder: Path) -> None:
    """Takes a node away once some shards have begun."""
    while len(list(folder.glob("*.begun"))) < 8:
        time.sleep(0.05)
    cluster.remove_node(node, allow_graceful=False)


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
        "nodes_at_work": 2,
        "failures": [failure.reason for failure in report.failures],
    }
    print(json.dumps(told))
    cluster.shutdown()

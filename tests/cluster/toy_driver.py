"""A driver to be killed: runs slowed-down toy stages over the lake named on its command line."""

from __future__ import annotations

import sys
import tempfile

import ray
import toy_stages

from cluster import rayenv
from cluster.lake import Lake

if __name__ == "__main__":
    ray.cloudpickle.register_pickle_by_value(toy_stages)
    slow = toy_stages.Behaviour(sleep_s=0.3, once=tempfile.mkdtemp())
    with rayenv.session(workers=2):
        print("up", flush=True)
        toy_stages.run(Lake.open(sys.argv[1]), toy_stages.stages(double=slow, vectors=slow))

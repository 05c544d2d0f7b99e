"""`ray job submit`: a nightly run on a cluster of three nodes, of which one is lost, and runs that fail."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "jobs"))

from inside import stored
from lakes import Shell, files_of, rows_of
from manifests import settings
from nodes import BIN, Nodes, running

from pipeline.synth.histories import history

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

SLATEMILL = BIN / "slatemill"
LIMIT_S = 240


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(tmp_path_factory.mktemp("nights"))


@pytest.fixture(scope="module")
def nodes(shell: Shell) -> Iterator[Nodes]:
    """A cluster with the settings of the manifests."""
    ours = {"MLFLOW_TRACKING_URI": f"sqlite:///{shell.folder}/mlflow.db", "XDG_CACHE_HOME": str(shell.folder / "cache")}
    with running({**os.environ, **settings(), **ours}, workers=2) as started:
        yield started


def lake_of(histories: int, folder: Path) -> Path:
    """A lake of generated histories that no run has seen."""
    return Path(stored(folder, [history(seed=4, index=index, sessions=12) for index in range(histories)]).url)


def a_run(lake: Path, profile: object = "lexical") -> list[object]:
    return [SLATEMILL, "run", lake, "--profile", profile, "--address", "auto"]


def test_a_run_that_fails_is_a_job_that_fails_and_its_submission_does_not_end_with_0(nodes, shell, tmp_path):
    strange = tmp_path / "strange.yaml"
    strange.write_text(yaml.safe_dump({"name": "strange", "no_such_key": 1}))
    damaged = lake_of(2, tmp_path)
    victim = sorted(damaged.glob("turns/bucket=*/*.parquet"))[0]
    content = bytearray(victim.read_bytes())
    content[4:2000] = bytes(1996)  # its pages; the footer, which is all that a driver reads, stays
    victim.write_bytes(content)

    bad_profile, bad_shard = nodes.submitting(*a_run(damaged, strange)), nodes.submitting(*a_run(damaged))
    told = bad_profile.communicate(timeout=LIMIT_S)[0]
    assert bad_profile.returncode == 1, told
    assert "failed with exit code 2" in told
    assert "no_such_key" in told
    told = bad_shard.communicate(timeout=LIMIT_S)[0]
    assert bad_shard.returncode == 1, told
    assert "failed with exit code 1" in told
    assert f"bucket {int(victim.parent.name.removeprefix('bucket=b'))}: OSError" in told


def test_a_run_that_loses_a_node_in_mid_shard_makes_the_tables_of_an_undisturbed_one(nodes, shell, tmp_path):
    disturbed = lake_of(24, tmp_path)
    undisturbed = Path(shutil.copytree(disturbed, tmp_path / "undisturbed"))
    job = nodes.submitting(*a_run(disturbed))
    lost = nodes.workers[0]
    deadline = time.monotonic() + LIMIT_S
    while not (files_of(disturbed)["terms"] and lost.at_work()):
        assert job.poll() is None, job.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.01)
    lost.kill()
    done = sum(map(len, files_of(disturbed).values()))
    told = job.communicate(timeout=LIMIT_S)[0]
    assert job.returncode == 0, told
    assert "succeeded" in told
    shell.run("run", undisturbed, "--profile", "lexical")
    assert 0 < done < sum(map(len, files_of(undisturbed).values())) / 2
    expected, made = rows_of(undisturbed), rows_of(disturbed)
    assert made.keys() == expected.keys()
    for table, rows in expected.items():
        assert made[table].equals(rows), table

"""What must hold of the project as a whole: it installs repeatably, anywhere, and nothing stands in its way."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("jobs", "pipeline", "models", "cluster")


@pytest.mark.flash
def test_constraints_are_pins_and_nothing_else():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!]+", line)] == []


@pytest.mark.flash
def test_no_tracked_file_holds_a_path_of_this_machine():
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout.split("\0")  # fmt: skip
    here = re.compile("|".join(re.escape(str(path)) + r"(?![\w])" for path in (ROOT, Path.home(), Path(sys.prefix))))
    holding = [name for name in tracked if name and here.search((ROOT / name).read_text(errors="ignore"))]
    assert holding == []


@pytest.mark.flash
def test_no_installed_distribution_shadows_the_four_packages():
    provided = metadata.packages_distributions()
    for package in PACKAGES:
        assert set(provided.get(package, ["slatemill"])) == {"slatemill"}, package


@pytest.mark.slow
def test_the_wheel_works_outside_the_clone(tmp_path):
    # Built from a copy: what an earlier build left in the clone must not get into the wheel.
    copy = tmp_path / "copy"
    for name in PACKAGES:
        shutil.copytree(ROOT / name, copy / name)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, copy / name)
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path), str(copy)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    target = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    program = (
        "import jobs, pipeline, models, cluster\n"
        f"assert all(m.__file__.startswith({str(target)!r}) for m in (jobs, pipeline, models, cluster))\n"
        "from jobs.config import load_profile\n"
        "from jobs.names import profile_names\n"
        "shipped = ['agentmemrec', 'agents', 'compared', 'default', 'flexamem', 'lexical', 'tuned']\n"
        "assert [load_profile(name).name for name in profile_names()] == shipped\n"
        "from jobs.ranker_choice import ranker_for\n"
        "assert ranker_for(load_profile('default'), None)[1] == 'shipped/default'\n"
        "from pipeline.ingest.native import read\n"
        "from pipeline.recall.analyzer import analyze\n"
        "import polars as pl\n"
        "assert analyze(pl.Series(['the kites'])).to_list() == [['kite']]\n"
    )
    outside = {"PYTHONPATH": str(target), "PATH": "/usr/bin:/bin"}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=outside, check=True)

"""The Dockerfile has both targets, copies what is there, and gives the process to a user without rights."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from dockerfile_parse import DockerfileParser

sys.path.insert(0, str(Path(__file__).parent))

from manifests import DEPLOY, ROOT

pytestmark = pytest.mark.flash

TEXT = (DEPLOY / "Dockerfile").read_text()
INSTRUCTIONS = [
    (one["instruction"], one["value"])
    for one in DockerfileParser(fileobj=io.BytesIO(TEXT.encode())).structure
    if one["instruction"] != "COMMENT"
]


def stages() -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """By name: what a stage is made from, and its instructions."""
    found: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    for instruction, value in INSTRUCTIONS:
        if instruction == "FROM":
            source, _, name = value.split()
            found[name] = (source, [])
        elif found:
            list(found.values())[-1][1].append((instruction, value))
    return found


def test_there_is_a_target_with_gpu_and_one_without():
    assert {"cpu", "gpu"} <= stages().keys()


def test_every_source_of_a_copy_is_there_and_not_ignored():
    ignored = {line.rstrip("/") for line in (ROOT / ".dockerignore").read_text().split()}
    sources: list[str] = []
    for instruction, value in INSTRUCTIONS:
        if instruction != "COPY":
            continue
        words = shlex.split(value)
        if words[0].startswith("--from="):
            assert words[0].removeprefix("--from=") in stages()
        else:
            sources += words[:-1]
    assert [name for name in sources if not (ROOT / name).exists() or name in ignored] == []
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert packages <= set(sources)


@pytest.mark.parametrize("target", ["cpu", "gpu"])
def test_a_target_runs_as_a_user_without_rights_from_what_it_builds(target):
    source, steps = stages()[target]
    assert source == "base"
    assert [value for instruction, value in steps if instruction == "USER"] == ["1000"]
    assert ("COPY", f"--from=build-{target} /opt/slatemill /opt/slatemill") in steps


def test_the_base_is_the_python_of_the_project():
    (image,) = [value for instruction, value in INSTRUCTIONS if instruction == "ARG" and "PYTHON_IMAGE" in value]
    assert image == "PYTHON_IMAGE=python:3.11-slim"


def test_extras_that_are_installed_exist_and_vllm_is_in_the_gpu_image_alone():
    import tomllib

    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for target, with_vllm in (("cpu", False), ("gpu", True)):
        text = " ".join(value for _, value in stages()[f"build-{target}"][1])
        (extras,) = re.findall(r'"\.\[([a-z0-9,]+)\]"', text)
        assert set(extras.split(",")) <= known.keys()
        assert ("vllm" in extras) is with_vllm
        assert "--constraint" in text


def test_what_the_gpu_image_holds_to_is_pinned():
    (pattern,) = re.findall(r"grep -E '([^']+)' constraints.txt", TEXT)
    held = subprocess.run(
        ["grep", "-E", pattern, ROOT / "constraints.txt"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {one.split("==")[0] for one in held} >= {"ray", "pyarrow", "polars", "lightgbm", "mlflow", "tiktoken"}

"""The manifests in cluster/deploy, read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "cluster" / "deploy"
KUBERAY = DEPLOY / "kuberay"
PROFILES = ("gpu-1", "gpu-8", "nodes-100")


def documents(path: Path) -> list[dict[str, Any]]:
    """Every document of a YAML file."""
    return list(yaml.safe_load_all(path.read_text()))


def settings() -> dict[str, str]:
    """What every node is started with."""
    (config,) = documents(KUBERAY / "base" / "settings.yaml")
    return {name: value for name, value in config["data"].items() if name.startswith("RAY_")}


def rayjob(profile: str) -> dict[str, Any]:
    """The RayJob of a profile."""
    (job,) = documents(KUBERAY / profile / "rayjob.yaml")
    return job


def groups(job: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The head and the groups of workers of a RayJob."""
    cluster = job["spec"]["rayClusterSpec"]
    yield cluster["headGroupSpec"]
    yield from cluster["workerGroupSpecs"]

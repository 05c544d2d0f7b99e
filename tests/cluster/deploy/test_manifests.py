"""The manifests for KubeRay are such as Kubernetes and KubeRay take, hang together, and fit what slatemill is."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import ray
import yaml
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))

from manifests import DEPLOY, KUBERAY, PROFILES, ROOT, documents, groups, rayjob, settings

from cluster import rayenv
from jobs.cli import app

pytestmark = pytest.mark.flash

KUBERNETES = "1.34"
HERE = Path(__file__).parent
BASE = KUBERAY / "base"
PLAIN = [one for name in ("settings", "access", "nightly") for one in documents(BASE / f"{name}.yaml")]
(NIGHTLY,) = documents(BASE / "nightly.yaml")
NIGHT_POD = NIGHTLY["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def check(manifest: dict[str, Any]) -> None:
    kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


def check_pods(job: dict[str, Any]) -> None:
    for group in groups(job):
        check({"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "x"}, "template": group["template"]})


def check_rayjob(job: dict[str, Any]) -> None:
    jsonschema.validate(job, yaml.safe_load((HERE / "rayjob_schema.yaml").read_text()))


@pytest.mark.parametrize("manifest", PLAIN, ids=lambda one: one["kind"])
def test_kubernetes_takes_the_manifest(manifest):
    check(manifest)


@pytest.mark.parametrize("profile", PROFILES)
def test_kuberay_takes_the_rayjob_and_kubernetes_its_pods(profile):
    check_rayjob(rayjob(profile))
    check_pods(rayjob(profile))


def test_the_schemas_refuse_what_is_misspelt():
    job = rayjob("gpu-1")
    next(groups(job))["template"]["spec"]["containers"][0]["imagePullPolicies"] = "Always"
    with pytest.raises(kubernetes_validate.ValidationError):
        check_pods(job)
    job["spec"]["entryPoint"] = job["spec"].pop("entrypoint")
    with pytest.raises(jsonschema.ValidationError):
        check_rayjob(job)
    wrong = yaml.safe_load((BASE / "nightly.yaml").read_text())
    wrong["spec"]["concurrencyPolicy"] = 1
    with pytest.raises(kubernetes_validate.ValidationError):
        check(wrong)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_rayjob_has_one_image_and_the_settings_in_every_pod(profile):
    containers = [one for group in groups(rayjob(profile)) for one in group["template"]["spec"]["containers"]]
    assert len({one["image"] for one in containers}) == 1
    for one in containers:
        assert {"configMapRef": {"name": documents(BASE / "settings.yaml")[0]["metadata"]["name"]}} in one["envFrom"]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_rayjob_runs_the_ray_that_is_pinned_and_the_head_takes_no_shard(profile):
    cluster = rayjob(profile)["spec"]["rayClusterSpec"]
    assert f"ray=={cluster['rayVersion']}" in (ROOT / "constraints.txt").read_text().splitlines()
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"


@pytest.mark.parametrize("profile", PROFILES)
def test_the_entrypoint_is_a_command_that_slatemill_has(profile):
    shell, option, line = shlex.split(rayjob(profile)["spec"]["entrypoint"])
    assert (shell, option) == ("sh", "-c")
    program, *words = shlex.split(line)
    assert program == "slatemill"
    known = documents(BASE / "settings.yaml")[0]["data"]
    assert {word[1:] for word in words if word.startswith("$")} <= known.keys()
    told = CliRunner().invoke(app, [words[0], "--help"])
    assert told.exit_code == 0
    assert {word for word in words if word.startswith("--")} <= set(re.findall(r"--[a-z-]+", told.output))


def test_the_profiles_are_as_large_as_they_are_named():
    def nodes(profile: str, count: str = "maxReplicas") -> int:
        return sum(group[count] for group in rayjob(profile)["spec"]["rayClusterSpec"]["workerGroupSpecs"])

    def gpus(profile: str) -> int:
        workers = rayjob(profile)["spec"]["rayClusterSpec"]["workerGroupSpecs"]
        limits = [one["template"]["spec"]["containers"][0]["resources"]["limits"] for one in workers]
        counts = [int(limit.get("nvidia.com/gpu", 0)) for limit in limits]
        return sum(one["minReplicas"] * count for one, count in zip(workers, counts, strict=True))

    assert (gpus("gpu-1"), gpus("gpu-8"), nodes("nodes-100")) == (1, 8, 100)


def test_settings_leave_to_the_code_what_it_sets_itself():
    data = documents(BASE / "settings.yaml")[0]["data"]
    assert not data.keys() & rayenv.WORKER_ENV.keys()
    assert data["RAY_USAGE_STATS_ENABLED"] == "0"
    assert data["RAY_task_oom_retries"] == str(rayenv.OOM_RETRIES)


def test_a_hung_node_is_noticed_in_a_quarter_of_a_minute():
    value = {name.removeprefix("RAY_health_check_"): int(text) for name, text in settings().items() if "health" in name}
    assert value["failure_threshold"] * (value["period_ms"] + value["timeout_ms"]) < 15_000


def test_the_settings_of_ray_are_known_to_ray():
    """Settings of its own core are compiled in without their prefix; the others stand in its Python files."""
    folder = Path(ray.__file__).parent
    core = next(folder.glob("_raylet*.so")).read_bytes()
    python = b"".join(path.read_bytes() for path in folder.glob("_*/**/*.py"))
    assert len(settings()) > 5
    names = [name.encode() for name in settings()]
    assert [name for name in names if name.removeprefix(b"RAY_") not in core and b'"%s"' % name not in python] == []


@pytest.mark.parametrize("profile", PROFILES)
def test_the_cronjob_finds_the_rayjob_that_kustomize_gives_it(profile):
    (built,) = documents(KUBERAY / profile / "kustomization.yaml")
    assert [(KUBERAY / profile / name).resolve() for name in built["resources"]] == [BASE]
    (generated,) = built["configMapGenerator"]
    assert all((KUBERAY / profile / name).is_file() for name in generated["files"])
    assert NIGHT_POD["volumes"][0]["configMap"]["name"] == generated["name"]
    assert built["generatorOptions"]["disableNameSuffixHash"]
    folder = NIGHT_POD["containers"][0]["volumeMounts"][0]["mountPath"]
    assert f"{folder}/{generated['files'][0]}" in NIGHT_POD["containers"][0]["args"][0]
    (base,) = documents(BASE / "kustomization.yaml")
    assert {f"{path.stem}.yaml" for path in BASE.glob("*.yaml")} == {*base["resources"], "kustomization.yaml"}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_cronjob_waits_longer_than_a_rayjob_may_take(profile):
    patience = NIGHTLY["spec"]["jobTemplate"]["spec"]["activeDeadlineSeconds"]
    assert patience > rayjob(profile)["spec"]["activeDeadlineSeconds"]


@pytest.mark.parametrize(
    ("deployment", "status", "code"),
    [("Complete", "SUCCEEDED", 0), ("Failed", "FAILED", 1), ("Complete", "STOPPED", 1), ("Failed", "", 1)],
)
def test_a_night_ends_as_its_rayjob_ended(tmp_path, deployment, status, code):
    """The script of the CronJob with a kubectl that tells of a RayJob which is running, and then over."""
    asked = tmp_path / "asked"
    (tmp_path / "kubectl").write_text(
        f"""#!/bin/sh
case "$*" in
  create*) echo rayjob.ray.io/slatemill-x ;;
  *jobDeploymentStatus*) if test -e {asked}; then echo {deployment}; else touch {asked}; echo Running; fi ;;
  *) echo {status} ;;
esac
"""
    )
    (tmp_path / "sleep").write_text("#!/bin/sh\n")
    for name in ("kubectl", "sleep"):
        (tmp_path / name).chmod(0o755)
    container = NIGHT_POD["containers"][0]
    ended = subprocess.run(
        [*container["command"], *container["args"]],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == code, ended.stderr
    assert "rayjob.ray.io/slatemill-x" in ended.stdout


@pytest.mark.parametrize("profile", PROFILES)
def test_kustomize_builds_the_profile(profile):
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("no kubectl on this machine")
    built = subprocess.run([kubectl, "kustomize", KUBERAY / profile], capture_output=True, text=True, check=True)
    made = list(yaml.safe_load_all(built.stdout))
    assert sorted(one["kind"] for one in made) == sorted([*(one["kind"] for one in PLAIN), "ConfigMap"])
    for one in made:
        check(one)


def test_nothing_here_names_a_host_but_the_one_to_be_replaced_or_holds_a_key():
    for path in (path for path in DEPLOY.rglob("*") if path.is_file()):
        text = path.read_text()
        assert set(re.findall(r"\w+://[^/\s]+", text)) <= {"http://mlflow:5000", "s3://your-bucket"}, path
        images = re.findall(r"^\s*(?:image: |ARG PYTHON_IMAGE=)(.+)$", text, re.MULTILINE)
        assert all(re.fullmatch(r"[a-z]+:[a-z0-9.-]+", image) for image in images), path
        assert not re.search(r"AKIA[0-9A-Z]{16}|BEGIN [A-Z ]*PRIVATE KEY", text), path

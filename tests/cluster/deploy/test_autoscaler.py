"""The file for `ray up` is one that Ray takes, and starts nodes as the manifests for KubeRay do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ray.autoscaler._private.util import prepare_config, validate_config

sys.path.insert(0, str(Path(__file__).parent))

from manifests import DEPLOY, documents, settings

pytestmark = pytest.mark.flash


@pytest.fixture
def config() -> dict[str, Any]:
    (read,) = documents(DEPLOY / "autoscaler.yaml")
    return read


def test_ray_takes_it_by_its_own_schema_once_its_defaults_are_filled_in(config):
    validate_config(prepare_config(config))


def test_ray_refuses_a_key_that_is_misspelt(config):
    with pytest.raises(jsonschema.ValidationError):
        validate_config({**config, "head_node": {}})


def test_the_head_takes_no_shard_and_there_are_nodes_with_a_gpu(config):
    types = config["available_node_types"]
    assert types[config["head_node_type"]]["resources"]["CPU"] == 0
    assert any("--num-cpus=0" in command for command in config["head_start_ray_commands"])
    with_gpu = [one for one in types.values() if one["resources"].get("GPU")]
    assert with_gpu
    assert all(one["min_workers"] == one["max_workers"] for one in with_gpu)


def test_nodes_start_with_the_settings_of_the_manifests(config):
    words = [word.removeprefix("--env ") for word in config["docker"]["run_options"] if word.startswith("--env ")]
    given = dict(word.split("=", 1) for word in words)
    assert settings().items() <= given.items()

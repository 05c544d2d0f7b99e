"""Tuned encoders in MLflow: logged and registered like a ranker, and found again by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.registry import CHAMPION, EXPERIMENT, by_alias, local_folder, register
from models.tracking import client, log_run, store_is_absent
from models.tuned_encoder import TunedEncoder, TunedEncoderError, open_tuned

_FOLDER = "encoder"


def registered_name(profile: str) -> str:
    """The registered model that holds the tuned encoders of a profile."""
    return f"slatemill-{profile}-encoder"


@dataclass(frozen=True)
class RegisteredEncoder:
    """A tuned encoder's place in the registry."""

    name: str
    version: str
    is_champion: bool


def log_finetuning(tuned: TunedEncoder, params: Mapping[str, Any], profile: str, crown: bool) -> RegisteredEncoder:
    """Logs a tuning to MLflow and registers its encoder.

    It becomes the profile's champion if `crown` says so or there is none. A ranker that was trained on the scores of
    another encoder is to be trained anew then. Raises mlflow.exceptions.MlflowException when the store refuses.
    """
    registry = client()
    run = log_run(
        registry,
        EXPERIMENT,
        f"finetune {profile}",
        tuned.metrics,
        {"profile": profile, "base": tuned.base, **tuned.params.model_dump(), **params},
        {"fold_of.json": json.dumps(dict(tuned.fold_of), indent=2)},
        {_FOLDER: tuned.folder},
    )
    name = registered_name(profile)
    version = register(registry, name, f"{run.info.artifact_uri}/{_FOLDER}", run.info.run_id, {})
    crowned = crown or by_alias(registry, name, CHAMPION) is None
    if crowned:
        registry.set_registered_model_alias(name, CHAMPION, version)
    return RegisteredEncoder(name, version, crowned)


def find_tuned(spec: str | None, profile: str) -> TunedEncoder:
    """The encoder that a profile uses: a folder, or a registered name's champion (default: the profile's own).

    Raises TunedEncoderError where there is none.
    """
    if spec is not None and Path(spec).is_dir():
        return open_tuned(Path(spec))
    name = spec or registered_name(profile)
    advice = f"run `slatemill finetune LAKE --profile {profile}`, or name a folder in late_interaction.tuned"
    if store_is_absent():
        raise TunedEncoderError(
            f"profile {profile} wants the tuned encoder {name}, and there is no MLflow store: {advice}"
        )
    registry = client()
    version = by_alias(registry, name, CHAMPION)
    if version is None:
        raise TunedEncoderError(f"profile {profile} wants the tuned encoder {name}, which has no champion: {advice}")
    source = str(registry.get_model_version_download_uri(name, version.version))
    folder = local_folder(source)
    if folder is not None:
        return open_tuned(folder)
    from mlflow.artifacts import download_artifacts  # noqa: PLC0415 - seconds

    return open_tuned(Path(download_artifacts(source)))

"""Tuned encoders in MLflow: logged and registered like a ranker, and found again by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from models.tracking import client, log_run, store_is_absent
from models.tuned_encoder import TunedEncoder, TunedEncoderError, open_tuned

EXPERIMENT = "slatemill"
CHAMPION = "champion"
_FOLDER = "encoder"


def registered_name(profile: str) -> str:
    """The registered model that holds the tuned encoders of a profile."""
    return f"slatemill-{profile}-encoder"


def log_finetuning(tuned: TunedEncoder, params: Mapping[str, Any], profile: str) -> tuple[str, str]:
    """Logs a tuning to MLflow, registers its encoder and makes it the profile's champion: (name, version).

    An encoder decides what features mean: rankers are trained on the champion's scores, so the newest is the champion.
    Raises mlflow.exceptions.MlflowException when the store refuses.
    """
    from mlflow.exceptions import MlflowException  # noqa: PLC0415 - seconds

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
    try:
        registry.create_registered_model(name)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    source = f"{run.info.artifact_uri}/{_FOLDER}"
    version = str(registry.create_model_version(name, source, run.info.run_id, await_creation_for=0).version)
    registry.set_registered_model_alias(name, CHAMPION, version)
    return name, version


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
    from mlflow.exceptions import MlflowException  # noqa: PLC0415 - seconds

    registry = client()
    try:
        version = registry.get_model_version_by_alias(name, CHAMPION)
    except MlflowException as error:
        raise TunedEncoderError(
            f"profile {profile} wants the tuned encoder {name}, which has no champion: {advice}"
        ) from error
    source = str(registry.get_model_version_download_uri(name, version.version))
    parts = urlparse(source)
    if parts.scheme in ("", "file"):
        return open_tuned(Path(unquote(parts.path)))
    from mlflow.artifacts import download_artifacts  # noqa: PLC0415 - seconds

    return open_tuned(Path(download_artifacts(source)))

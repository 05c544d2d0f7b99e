"""Tuned encoders in MLflow: logged and registered like a ranker, found again by name, fetched where they are read."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from models.registry import CHAMPION, EXPERIMENT, TAG_PREFIX, by_alias, local_folder, register
from models.tracking import client, log_run, store_is_absent, without_password
from models.tuned_encoder import (
    ABOUT_FILE,
    Origin,
    TunedEncoder,
    TunedEncoderError,
    TunedTokenEncoder,
    open_tuned,
    tensors_file,
)
from models.user_cache import user_cache

DIGEST_TAG = f"{TAG_PREFIX}encoder"
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
    version = register(
        registry, name, f"{run.info.artifact_uri}/{_FOLDER}", run.info.run_id, {DIGEST_TAG: tuned.digest}
    )
    crowned = crown or by_alias(registry, name, CHAMPION) is None
    if crowned:
        registry.set_registered_model_alias(name, CHAMPION, version)
    return RegisteredEncoder(name, version, crowned)


def find_tuned(spec: str | None, profile: str) -> TunedEncoder:
    """The encoder that a profile uses: a folder, or a registered name's champion (default: the profile's own).

    What a store keeps on another machine is fetched into the user's cache, once. Raises TunedEncoderError where there
    is none, or another than was registered.
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
    digest = version.tags.get(DIGEST_TAG)
    folder = local_folder(source)
    if folder is not None:
        found = open_tuned(folder)
        _require(found.digest, digest or found.digest, source)
        return found
    if digest is None:
        raise TunedEncoderError(f"{name} version {version.version} was registered without its digest: {advice}")
    origin = Origin(str(registry.tracking_uri), source)
    return replace(open_tuned(_fetched(origin, digest)), origin=origin)


def load_tuned(tuned: TunedEncoder) -> TunedTokenEncoder:
    """The encoder in the process that reads by it; on a machine that lacks its folder it is fetched from its origin.

    Raises TunedEncoderError where it has none, or MLflow does not give it.
    """
    if (tuned.folder / ABOUT_FILE).is_file():
        return TunedTokenEncoder(tuned)
    if tuned.origin is None:
        raise TunedEncoderError(
            f"the tuned encoder {tuned.identity.choice_id} lies in {tuned.folder}, which this machine does not have: "
            "put it where all machines of the cluster see it, or register it with an MLflow server that keeps artifacts"
        )
    return TunedTokenEncoder(replace(tuned, folder=_fetched(tuned.origin, tuned.digest)))


def _fetched(origin: Origin, digest: str) -> Path:
    """The folder of an encoder in the user's cache, downloaded if it is not there."""
    folder = user_cache() / "encoders" / digest
    if _is_whole(folder, digest):
        return folder
    from mlflow.artifacts import download_artifacts  # noqa: PLC0415 - seconds
    from mlflow.exceptions import MlflowException  # noqa: PLC0415 - seconds

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TunedEncoderError(
            f"a fetched encoder is kept in {folder.parent}, which cannot be made ({error}): set XDG_CACHE_HOME"
        ) from error
    with tempfile.TemporaryDirectory(dir=folder.parent) as passing:
        try:
            made = Path(download_artifacts(origin.artifact, dst_path=passing, tracking_uri=origin.store))
        except (MlflowException, OSError) as error:
            raise TunedEncoderError(
                without_password(f"the tuned encoder at {origin.artifact} cannot be had from {origin.store}: {error}")
            ) from error
        _require(_digest(made), digest, origin.artifact)
        if folder.exists() and not _is_whole(folder, digest):  # a part of it was lost
            os.rename(folder, Path(passing) / "lost")
        try:
            os.rename(made, folder)
        except OSError:  # another process was first
            if not _is_whole(folder, digest):
                raise
    return folder


def _is_whole(folder: Path, digest: str) -> bool:
    """Whether a folder holds the encoder of this digest with all its files."""
    if _digest(folder) != digest:
        return False
    names = json.loads((folder / ABOUT_FILE).read_bytes())["files"]
    return all((folder / tensors_file(name)).is_file() for name in names)


def _digest(folder: Path) -> str | None:
    about = folder / ABOUT_FILE
    return hashlib.sha256(about.read_bytes()).hexdigest() if about.is_file() else None


def _require(found: str | None, registered: str, source: str) -> None:
    if found != registered:
        raise TunedEncoderError(
            without_password(f"what lies at {source} is not the encoder that was registered: run `slatemill finetune`")
        )

"""Rankers in MLflow's registry: as plain text, never through a flavour that pickles."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

from models.ranker import LightGBMRanker, RankerError
from models.shipped import shipped
from models.tracking import client, local_database, log_run, store_is_absent
from models.user_cache import user_cache, write_atomically

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion
    from mlflow.exceptions import MlflowException

CHAMPION = "champion"
EXPERIMENT = "slatemill"
RANKER_FOLDER = "ranker"
PLOTS_FOLDER = "plots"
TAG_PREFIX = "slatemill."
IDENTITY_TAG = f"{TAG_PREFIX}ranker"

_SPEC = re.compile(r"(?:models:/)?(?P<name>[^@/:'\"]+)(?:@(?P<alias>[\w-]+)|/(?P<version>\d+|latest))?")


class RankerNotFound(ValueError):
    """What --ranker names is no folder and not in the registry; the message says what is."""


class ChampionChanged(RuntimeError):
    """The champion is no longer the one that a version was compared with."""


@dataclass(frozen=True)
class RegisteredVersion:
    """A ranker's place in the registry."""

    name: str
    version: str
    run_id: str
    is_champion: bool


def registered_name(profile: str) -> str:
    """The registered model that holds the rankers of a profile."""
    return f"slatemill-{profile}"


def log_training(
    ranker: LightGBMRanker,
    params: Mapping[str, Any],
    metrics: Mapping[str, float],
    profile: str,
    texts: Mapping[str, str] | None = None,
    plots: Path | None = None,
    did: str = "train",
) -> RegisteredVersion:
    """Log a training to MLflow (params, metrics, importances, the ranker as text) and register its ranker.

    `texts` are further files by name, `plots` a folder of pictures, and `did` is what the run is called.

    The new version becomes the profile's champion if there is none. The ranker is saved with these metrics.
    Raises mlflow.exceptions.MlflowException when the store refuses.
    """
    registry, importances = client(), ranker.importances()
    flat = {f"importance_{kind}/{name}": value for kind, each in importances.items() for name, value in each.items()}
    with tempfile.TemporaryDirectory() as folder:
        replace(ranker, metrics=dict(metrics)).save(Path(folder))
        run = log_run(
            registry,
            EXPERIMENT,
            f"{did} {profile}",
            {**metrics, **flat},
            {"profile": profile, "ranker": ranker.identity, **params},
            {"importances.json": json.dumps(importances, indent=2), **(texts or {})},
            {RANKER_FOLDER: Path(folder), **({} if plots is None else {PLOTS_FOLDER: plots})},
        )
    name = registered_name(profile)
    source = f"{run.info.artifact_uri}/{RANKER_FOLDER}"
    version = register(registry, name, source, run.info.run_id, {IDENTITY_TAG: ranker.identity})
    crowned = CHAMPION not in registry.get_registered_model(name).aliases
    if crowned:
        registry.set_registered_model_alias(name, CHAMPION, version)
    return RegisteredVersion(name, version, run.info.run_id, crowned)


def log_evaluation(
    metrics: Mapping[str, float],
    params: Mapping[str, Any],
    artifacts: Mapping[str, str],
    experiment: str = EXPERIMENT,
    run_name: str = "evaluate",
) -> str:
    """Log an evaluation to MLflow as one run; `artifacts` maps file names to text. Returns the run_id."""
    run = log_run(client(), experiment, run_name, metrics, params, artifacts, {})
    return str(run.info.run_id)


@dataclass(frozen=True)
class Registered:
    """A ranker and its place in the registry."""

    name: str
    version: str
    ranker: LightGBMRanker


def challenger_and_champion(spec: str) -> tuple[Registered, Registered | None]:
    """What `spec` names (NAME/VERSION, NAME/latest, NAME@ALIAS; NAME is its latest), and its model's present champion.

    Raises RankerNotFound, or RankerError for a ranker that was changed since it was written.
    """
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise RankerNotFound(f"ranker {spec!r} is no NAME/VERSION of the registry, such as slatemill-lexical/2")
    _require_store(spec)
    registry = client()
    latest = None if match["alias"] is not None else match["version"] or "latest"
    found = _registered(registry, _version(registry, match["name"], match["alias"], latest))
    champion = by_alias(registry, match["name"], CHAMPION)
    return found, None if champion is None else _registered(registry, champion)


def crown(chosen: Registered, instead_of: Registered | None) -> None:
    """Makes a version the champion of its model, unless another than `instead_of` has become that meanwhile.

    Raises ChampionChanged.
    """
    registry = client()
    present = by_alias(registry, chosen.name, CHAMPION)
    expected = None if instead_of is None else instead_of.version
    if (None if present is None else str(present.version)) != expected:
        raise ChampionChanged(f"{chosen.name} has another champion by now than it was compared with: promote again")
    registry.set_registered_model_alias(chosen.name, CHAMPION, chosen.version)


def tag(chosen: Registered, tags: Mapping[str, str]) -> None:
    """Writes tags of a version, each after `slatemill.`."""
    registry = client()
    for name, value in tags.items():
        registry.set_model_version_tag(chosen.name, chosen.version, f"{TAG_PREFIX}{name}", value)


def load_ranker(spec: str | None, profile: str) -> tuple[LightGBMRanker, str] | None:
    """The ranker that a run should use, and a line that says which it is.

    spec: None for the champion of the profile; a folder that `slatemill train --out` wrote; `NAME` for the champion of
    a registered model, else its latest version; `NAME@ALIAS`; `NAME/VERSION`; any of these after `models:/`; and
    `shipped/PROFILE`, one that comes with slatemill.
    Returns None when spec is None and the profile has no champion. No store is made by asking. A champion in a local
    database is remembered until that database changes, for loading MLflow takes seconds.
    Raises RankerNotFound, or RankerError for a ranker that was changed since it was written.
    """
    return _champion(registered_name(profile)) if spec is None else load_named(spec)


def load_named(spec: str) -> tuple[LightGBMRanker, str]:
    """As load_ranker, of what is named."""
    if (found := shipped(spec)) is not None:
        return found, spec
    if Path(spec).is_dir():
        return LightGBMRanker.load(Path(spec)), f"folder {Path(spec).resolve()}"  # it is looked up again later
    match = _SPEC.fullmatch(spec)
    if match is None or spec.startswith((".", "~")):
        raise RankerNotFound(
            f"ranker {spec!r}: there is no such folder, and it is no NAME, NAME@ALIAS or NAME/VERSION of the registry"
        )
    _require_store(spec)
    registry = client()
    return _load(registry, _version(registry, match["name"], match["alias"], match["version"]))


def _require_store(spec: str) -> None:
    if store_is_absent():
        raise RankerNotFound(
            f"ranker {spec!r} is no folder, and there is no MLflow store here: set MLFLOW_TRACKING_URI, go to the "
            "folder that holds mlflow.db, or run `slatemill train`"
        )


def _registered(registry: MlflowClient, version: ModelVersion) -> Registered:
    ranker, _ = _load(registry, version)
    return Registered(str(version.name), str(version.version), ranker)


def register(registry: MlflowClient, name: str, source: str, run_id: str, tags: Mapping[str, str]) -> str:
    """Makes a version of a registered model, and the model where there is none; returns the version's number."""
    from mlflow.exceptions import MlflowException  # noqa: PLC0415 - seconds

    try:
        registry.create_registered_model(name)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    made = registry.create_model_version(name, source, run_id, tags=dict(tags), await_creation_for=0)
    return str(made.version)


def _champion(name: str) -> tuple[LightGBMRanker, str] | None:
    if store_is_absent():
        return None
    memory = _memory(name)
    if memory is not None and (found := _remembered(memory)):
        return found
    registry = client()
    version = by_alias(registry, name, CHAMPION)
    if version is None:
        return None
    ranker, description = _load(registry, version)
    folder = local_folder(_source(registry, version))
    if memory is not None and folder is not None:
        _remember(memory, folder, ranker.identity, description)
    return ranker, description


def _memory(name: str) -> Path | None:
    """Where the champion of a local database in its present state is remembered."""
    database = local_database()
    if database is None or not database.exists():
        return None
    state = [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in _files(database)]
    return user_cache() / "champions" / hashlib.sha256(json.dumps([name, state]).encode()).hexdigest()


def _files(database: Path) -> list[Path]:
    return [database, *database.parent.glob(f"{database.name}-wal")]


def _remembered(memory: Path) -> tuple[LightGBMRanker, str] | None:
    try:
        folder, identity, description = json.loads(memory.read_text())
        ranker = LightGBMRanker.load(Path(folder))
    except (OSError, ValueError):
        return None
    return (ranker, description) if ranker.identity == identity else None


def _remember(memory: Path, folder: Path, identity: str, description: str) -> None:
    with contextlib.suppress(OSError):  # a home that cannot be written costs time, nothing else
        write_atomically(memory, json.dumps([str(folder), identity, description]).encode())


def _version(registry: MlflowClient, name: str, alias: str | None, version: str | None) -> ModelVersion:
    from mlflow.exceptions import MlflowException  # noqa: PLC0415 - seconds

    found: ModelVersion | None
    if alias is not None:
        found = by_alias(registry, name, alias)
    elif version not in (None, "latest"):
        try:
            found = registry.get_model_version(name, version)
        except MlflowException as error:
            if not _says_absent(error):
                raise
            found = None
    else:
        found = (by_alias(registry, name, CHAMPION) if version is None else None) or _latest(registry, name)
    if found is None:
        raise RankerNotFound(_what_there_is(registry, name, alias, version))
    return found


def by_alias(registry: MlflowClient, name: str, alias: str) -> ModelVersion | None:
    """The version of a registered model that has an alias; None where there is none."""
    from mlflow.exceptions import MlflowException  # noqa: PLC0415 - seconds

    try:
        return registry.get_model_version_by_alias(name, alias)
    except MlflowException as error:
        if not _says_absent(error):
            raise
        return None


def _says_absent(error: MlflowException) -> bool:
    """Whether an error means that nothing is there: of an alias, stores say so as of a bad value."""
    return error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")


def _latest(registry: MlflowClient, name: str) -> ModelVersion | None:
    versions = registry.search_model_versions(f"name='{name}'")
    return max(versions, key=lambda version: int(version.version), default=None)


def _what_there_is(registry: MlflowClient, name: str, alias: str | None, version: str | None) -> str:
    wanted = name + (f"@{alias}" if alias else f"/{version}" if version else "")
    versions = sorted(int(version.version) for version in registry.search_model_versions(f"name='{name}'"))
    if versions:
        aliases = registry.get_registered_model(name).aliases
        there = (
            f"{name} has the versions {', '.join(map(str, versions))} and the aliases {', '.join(aliases) or '(none)'}"
        )
    else:
        names = [model.name for model in registry.search_registered_models("name LIKE 'slatemill-%'")]
        there = f"the rankers there are: {', '.join(names) or '(none)'}"
    return f"ranker {wanted!r} is no folder and not in the MLflow registry; {there}"


def _load(registry: MlflowClient, version: ModelVersion) -> tuple[LightGBMRanker, str]:
    source = _source(registry, version)
    description = f"{version.name} version {version.version}"
    folder = local_folder(source)
    if folder is not None:
        if not folder.is_dir():
            raise RankerError(
                f"{description}: its artifact {source} is gone. Restore it, name another with --ranker, or run "
                "`slatemill train` again"
            )
        ranker = LightGBMRanker.load(folder)
    else:
        from mlflow.artifacts import download_artifacts  # noqa: PLC0415 - seconds

        with tempfile.TemporaryDirectory() as passing:
            ranker = LightGBMRanker.load(Path(download_artifacts(source, dst_path=passing)))
    if version.tags.get(IDENTITY_TAG, ranker.identity) != ranker.identity:
        raise RankerError(f"{description}: the artifact at {source} is not the ranker that was registered")
    return ranker, description


def _source(registry: MlflowClient, version: ModelVersion) -> str:
    return str(registry.get_model_version_download_uri(version.name, version.version))


def local_folder(uri: str) -> Path | None:
    """The folder of an artifact that lies on this machine; None for one that must be fetched."""
    parts = urlparse(uri)
    return Path(unquote(parts.path)) if parts.scheme in ("", "file") else None

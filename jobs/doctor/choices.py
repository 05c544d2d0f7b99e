"""What a profile chooses: its model and its ranker, and MLflow's store."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from jobs.config import ModelOptions, Profile
from jobs.doctor.check import Found, brief
from jobs.doctor.places import nearest_folder
from jobs.graph import stages_to_features
from jobs.ranker_choice import ranker_for
from jobs.ranker_suits import require_own_features, require_own_scores
from models import tracking
from models.cross_encoder import cross_encoder_identity
from models.embedder import embedder_identity
from models.encoder_registry import find_tuned
from models.environment import environment
from models.ranker import RankerError
from models.registry import EXPERIMENT
from models.resolve import ModelNotFound, find_here, hub_bytes
from models.token_encoder import token_encoder_identity
from models.tuned_encoder import TunedEncoderError
from models.windowed import ModelIdentity, VectorIdentity, WindowedConfig

_MLFLOW_TIMEOUT_S = 5
_SHORT = 120


def embedder(profile: Profile) -> Found:
    """Where the profile's dense model lies."""
    return _model(profile, profile.embedder, embedder_identity)


def late_interaction(profile: Profile) -> Found:
    """Where the profile's encoder of late interaction lies."""
    return _model(
        profile, profile.late_interaction if "late" in profile.recall.encoders else None, token_encoder_identity
    )


def tuned_encoder(profile: Profile) -> Found:
    """Whether there is the fine-tuned encoder that the profile reads by."""
    if "tuned" not in profile.recall.encoders:
        return Found("ok", f"profile {profile.name} uses none")
    try:
        with _impatient():
            tuned = find_tuned(profile.late_interaction.tuned, profile.name)
    except TunedEncoderError as error:
        return Found("fails", brief(error), f"slatemill finetune LAKE --profile {profile.name}")
    return Found("ok", f"{tuned.identity.choice_id}, tuned on {len(tuned.fold_of):,} histories")


def cross_encoder(profile: Profile) -> Found:
    """Where the profile's cross-encoder lies, and whether it is one."""
    return _model(profile, profile.cross_encoder, cross_encoder_identity)


def _model(profile: Profile, chosen: ModelOptions | None, identify: Callable[[WindowedConfig], ModelIdentity]) -> Found:
    """Where a model lies; one that only the hub has is asked for there, and not fetched."""
    if chosen is None:
        return Found("ok", f"profile {profile.name} uses none")
    found = find_here(chosen.model)
    if found is None:
        return _on_hub(chosen.model)
    identity = identify(chosen.windowed)
    dim = f", {identity.dim} values a vector" if isinstance(identity, VectorIdentity) else ""
    return Found("ok", f"{chosen.model}: {found.found_in}, {found.path}{dim}")


def ranker(profile: Profile) -> Found:
    """Whether the profile's policies that go by a ranker have one. Without it a run leaves them out."""
    if not profile.learned_policies:
        return Found("ok", f"profile {profile.name} uses none")
    try:
        with _impatient():
            found = ranker_for(profile, None)
    except Exception as error:  # whatever MLflow lets through: its own check says what is wrong
        return Found("warning", f"the registry does not give it: {brief(error)[:_SHORT]}", "see mlflow above")
    if found is None:
        to_do = f"slatemill train LAKE --profile {profile.name}"
        return Found("warning", f"none yet: a run leaves out {', '.join(profile.learned_policies)}", to_do)
    try:
        require_own_features(found[0], profile)
        require_own_scores(found[0], profile, stages_to_features(profile))
    except RankerError as error:
        return Found(
            "warning", f"{found[1]}: {brief(error)[:_SHORT]}", f"slatemill train LAKE --profile {profile.name}"
        )
    except (ModelNotFound, ValueError):
        pass  # which model is missing, another check says
    return Found("ok", found[1])


def mlflow() -> Found:
    """MLflow's store: where it is, that it can be written, and where the files of a run go."""
    shown = tracking.without_password(tracking.store_uri() or f"sqlite:///{tracking.local_database()}")
    database = tracking.local_database()
    if tracking.store_is_absent():
        folder = database.parent if database is not None else Path.cwd()
        if os.access(nearest_folder(folder), os.W_OK):
            return Found("ok", f"{shown} (made by the first train or evaluate)")
        return Found("fails", f"{shown}: the folder cannot be written", "set MLFLOW_TRACKING_URI to another place")
    if database is not None and (locked := _cannot_write(database)):
        return Found("fails", f"{shown}: {locked}", "set MLFLOW_TRACKING_URI to a store that can be written")
    try:
        with _impatient():
            client = tracking.client()
            experiment = client.get_experiment_by_name(EXPERIMENT) or client.get_experiment("0")
    except Exception as error:  # MLflow lets through what its database and its network raise
        return Found("fails", f"{shown} does not answer: {brief(error)}", "start it, or set MLFLOW_TRACKING_URI")
    return Found("ok", f"{shown}; files go to {tracking.without_password(experiment.artifact_location)}")


def _on_hub(name: str) -> Found:
    size = hub_bytes(name)
    return Found("warning", f"{name}: on the hub ({size / 1e6:,.0f} MB)", f"slatemill models fetch {name}")


def _cannot_write(database: Path) -> str | None:
    """Why a SQLite file cannot be written; None where it can, or is not there."""
    if not database.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=rw", uri=True, timeout=2)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
    except sqlite3.Error as error:
        return str(error)
    return None


@contextmanager
def _impatient() -> Iterator[None]:
    """A server that is away is said to be so at once: MLflow alone would try for minutes."""
    with (
        environment("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0"),
        environment("MLFLOW_HTTP_REQUEST_TIMEOUT", str(_MLFLOW_TIMEOUT_S)),
    ):
        yield

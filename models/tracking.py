"""MLflow as slatemill uses it: where its store lies, a quiet client, and runs written in batches."""

from __future__ import annotations

import logging
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from models.environment import environment

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

Item = TypeVar("Item")

_SQLITE = "sqlite:///"
_DEFAULT_DATABASE = "mlflow.db"
_DEFAULT_FILE_STORE = "mlruns"

_METRICS_A_BATCH = 500
_PARAMS_A_BATCH = 100
_LONGEST_NAME = 250
_LONGEST_PARAM = 6000


def store_is_absent() -> bool:
    """Whether MLflow's store is one on this machine that nothing has made yet: asking MLflow would make it."""
    uri = store_uri()
    if uri is not None:
        database = local_database()
        return database is not None and not database.exists()
    return not Path(_DEFAULT_DATABASE).exists() and not Path(_DEFAULT_FILE_STORE).exists()


def local_database() -> Path | None:
    """The SQLite file of MLflow's store; None where it is a server or another database."""
    uri = store_uri()
    if uri is None:
        return Path(_DEFAULT_DATABASE).absolute()
    return Path(unquote(uri.removeprefix(_SQLITE))).absolute() if uri.startswith(_SQLITE) else None


def store_uri() -> str | None:
    """The registry that was chosen, found without loading MLflow; None for MLflow's default, in the working folder."""
    if "mlflow" in sys.modules and (uri := _set_in_process()):
        return uri
    return os.environ.get("MLFLOW_REGISTRY_URI") or os.environ.get("MLFLOW_TRACKING_URI") or None


def without_password(text: str) -> str:
    """A URI, or a message that quotes one, without the user and password that it may hold."""
    return re.sub(r"://[^/@\s]*@", "://", text)


def client() -> MlflowClient:
    """An MLflow client of the user's own store. Loading MLflow takes seconds.

    MLflow's usage reports are off unless MLFLOW_DISABLE_TELEMETRY says otherwise, and so is the log of its migrations.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    for name in ("alembic", "mlflow.store.db.utils"):
        logging.getLogger(name).setLevel(logging.WARNING)
    from mlflow import MlflowClient  # noqa: PLC0415 - seconds

    return MlflowClient()


def log_run(
    client: MlflowClient,
    experiment: str,
    run_name: str,
    metrics: Mapping[str, float],
    params: Mapping[str, Any],
    texts: Mapping[str, str],
    folders: Mapping[str, Path],
) -> Run:
    """Write one finished run: metrics, params, `texts` (artifact path to content), `folders` (artifact path to folder).

    A metric that is not finite is left out; a character that MLflow allows in no name becomes `_`. The run is marked
    FAILED when writing fails, and the error goes on. Raises ValueError when two metrics get one name.
    """
    from mlflow.entities import Metric, Param  # noqa: PLC0415 - seconds

    run = client.create_run(_experiment_id(client, experiment), run_name=run_name)
    run_id, now = run.info.run_id, run.info.start_time
    values = [Metric(name, float(value), now, 0) for name, value in _named(metrics) if math.isfinite(value)]
    settings = [Param(name, str(value)[:_LONGEST_PARAM]) for name, value in _named(params)]
    status = "FAILED"
    try:
        for metric_batch in _batches(values, _METRICS_A_BATCH):
            client.log_batch(run_id, metrics=metric_batch)
        for param_batch in _batches(settings, _PARAMS_A_BATCH):
            client.log_batch(run_id, params=param_batch)
        for path, text in texts.items():
            client.log_text(run_id, text, path)
        for path, folder in folders.items():
            client.log_artifacts(run_id, str(folder), path)
        status = "FINISHED"
    finally:
        with environment("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true"):
            client.set_terminated(run_id, status)
    return client.get_run(run_id)


def _set_in_process() -> str | None:
    """What mlflow.set_registry_uri or set_tracking_uri chose, as a notebook does."""
    mlflow = sys.modules["mlflow"]
    chosen = mlflow.is_tracking_uri_set() or os.environ.get("MLFLOW_REGISTRY_URI")
    return str(mlflow.get_registry_uri()) if chosen else None


def _experiment_id(client: MlflowClient, name: str) -> str:
    found = client.get_experiment_by_name(name)
    return str(found.experiment_id if found is not None else client.create_experiment(name))


def _named(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The values under names that MLflow takes."""
    named = {_name(name): value for name, value in values.items()}
    if len(named) < len(values):
        raise ValueError(f"two names are the same to MLflow (letters, digits and `_ - . : /`): {', '.join(values)}")
    return list(named.items())


def _name(name: str) -> str:
    return re.sub(r"[^/\w.\- :]", "_", name.replace(">=", "ge"))[:_LONGEST_NAME]


def _batches(items: Iterable[Item], size: int) -> Iterator[Sequence[Item]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch

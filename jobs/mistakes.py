"""What went wrong, said to the person who can mend it: a message and an exit code in place of a traceback."""

from __future__ import annotations

import errno
import sys

from cluster.errors import LakeError
from cluster.exits import FAILED_SHARDS, USAGE
from cluster.parallel import WorkerDied
from jobs.config import ConfigError
from jobs.distill.scores import ScoresUnfit
from jobs.finetune import NothingToTune
from jobs.promote import NothingToCompare
from jobs.reach import NotReached, without_secrets
from jobs.run import RunFailed
from jobs.train.data import NothingToLearn
from models.fetch import FolderTaken
from models.ranker import RankerError
from models.registry import ChampionChanged, RankerNotFound
from models.resolve import ModelNotFound
from models.tracking import without_password
from models.tuned_encoder import TunedEncoderError
from pipeline.ingest.errors import IngestError
from pipeline.policies.orders import PolicyError

_MENDABLE = (
    LakeError,
    ConfigError,
    NothingToCompare,
    PolicyError,
    NothingToLearn,
    NothingToTune,
    ScoresUnfit,
    TunedEncoderError,
    FolderTaken,
    RankerError,
    RankerNotFound,
    ModelNotFound,
    IngestError,
    NotReached,
)
_PLACES = (FileNotFoundError, PermissionError, NotADirectoryError, IsADirectoryError, FileExistsError, ConnectionError)


def explain(error: Exception) -> tuple[str, int] | None:
    """The message and exit code of an error; None for one that no person has caused, which is a bug of ours."""
    if isinstance(error, RunFailed):
        return str(error), error.report.exit_code
    if isinstance(error, (WorkerDied, ChampionChanged)):
        return str(error), FAILED_SHARDS
    if isinstance(error, _MENDABLE):
        return str(error), USAGE
    if isinstance(error, OSError):
        place = isinstance(error, _PLACES) or error.errno in (errno.EROFS, errno.ELOOP, errno.ENAMETOOLONG)
        return _of_place(error), USAGE if place else FAILED_SHARDS
    return _of_library(error)


def _of_library(error: Exception) -> tuple[str, int] | None:
    """What MLflow and S3's client say; they are asked only where they are in use."""
    mlflow, s3 = sys.modules.get("mlflow.exceptions"), sys.modules.get("botocore.exceptions")
    if mlflow is not None and isinstance(error, mlflow.MlflowException):
        return f"MLflow: {without_password(str(error))}\nMLFLOW_TRACKING_URI says where its store is.", FAILED_SHARDS
    if s3 is not None and isinstance(error, s3.BotoCoreError):
        return f"S3: {without_secrets(str(error))}", USAGE
    return None


def _of_place(error: OSError) -> str:
    """What Python says, without its error number; what slatemill says of a file, as it is."""
    if error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror

"""Every check of `slatemill doctor`, in order: a new one is a line here."""

from __future__ import annotations

from functools import partial

from cluster.errors import LakeError
from cluster.lake import Lake
from jobs.config import Profile
from jobs.doctor import choices, lakes, machine, software
from jobs.doctor.check import Check

_TOKENIZER = "o200k_base"


def checks_for(profile: Profile, lake: str | None) -> list[Check]:
    """The checks of this machine for a profile, and for the place of a lake where one is named."""
    on_s3 = lake is not None and lake.startswith(("s3://", "s3a://"))
    checks = [
        Check("python", True, software.python),
        Check("packages", True, software.packages),
        Check("memory", True, machine.memory),
        Check("ray", True, machine.ray),
        Check("gpu", False, machine.gpus),
        Check("tokenizer", True, partial(choices.tokenizer, _tokenizer_of(lake))),
        Check("embedder", profile.embedder is not None, partial(choices.embedder, profile)),
        Check("mlflow", True, choices.mlflow),
        Check("ranker", False, partial(choices.ranker, profile)),
        Check("vllm", False, partial(software.extra, "vllm", "vllm", "brings it", needed=False)),
        Check("s3", on_s3, partial(software.extra, "s3fs", "s3", "for s3:// lakes", needed=on_s3)),
    ]
    if lake is not None:
        checks += [
            Check("lake", True, partial(lakes.opened, lake)),
            Check("one writer wins", True, partial(lakes.exclusive, lake)),
            Check("disk space", True, partial(lakes.room, lake)),
        ]
    return checks


def _tokenizer_of(lake: str | None) -> str:
    """What the lake counts tokens in; where there is none, what a new one would."""
    try:
        return Lake.open(lake).tokenizer if lake is not None else _TOKENIZER
    except (LakeError, OSError, ValueError, ImportError):
        return _TOKENIZER

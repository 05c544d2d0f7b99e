"""Every check of `slatemill doctor`, in order: a new one is a line here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from jobs.config import Profile
from jobs.doctor.check import Check, Found


def checks_for(profile: Profile, lake: str | None) -> list[Check]:
    """The checks of this machine for a profile, and for the place of a lake where one is named."""
    on_s3 = lake is not None and lake.startswith(("s3://", "s3a://"))
    checks = [
        Check("python", True, _later("software.python")),
        Check("packages", True, _later("software.packages")),
        Check("memory", True, _later("machine.memory")),
        Check("ray", True, _later("machine.ray")),
        Check("gpu", False, _later("machine.gpus")),
        Check("tokenizer", True, _later("lakes.tokenizer", lake)),
        Check("embedder", profile.embedder is not None, _later("choices.embedder", profile)),
        Check("late interaction", bool(profile.recall.encoders), _later("choices.late_interaction", profile)),
        Check("tuned encoder", "tuned" in profile.recall.encoders, _later("choices.tuned_encoder", profile)),
        Check("cross-encoder", profile.cross_encoder is not None, _later("choices.cross_encoder", profile)),
        *(
            Check(role, True, _later("llms.language_model", options))
            for role, options in profile.language_models.items()
        ),
        Check("mlflow", True, _later("choices.mlflow")),
        Check("ranker", False, _later("choices.ranker", profile)),
        Check("vllm", False, _later("software.extra", "vllm", "vllm", "brings it", False)),
        Check("s3", on_s3, _later("software.extra", "s3fs", "s3", "for s3:// addresses", on_s3)),
    ]
    if lake is not None:
        checks += [
            Check("lake", True, _later("lakes.opened", lake)),
            Check("one writer wins", True, _later("lakes.exclusive", lake)),
            Check("disk space", True, _later("lakes.room", lake)),
        ]
    return checks


def _later(place: str, *given: object) -> Callable[[], Found]:
    """A look whose module is imported when it is made: a package that is missing must not stop the other checks."""

    def look() -> Found:
        module, _, name = place.partition(".")
        return cast(Found, getattr(import_module(f"jobs.doctor.{module}"), name)(*given))

    return look

"""The language models that a profile names: how they are loaded, and what tells them apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cluster.stage import ModelSpec
from jobs.config import ConfigError, Profile
from models.interfaces import LanguageModel


class Served(NamedTuple):
    """A language model as a stage takes it. `model_id` is part of paths, `identity` of stamps."""

    model_id: str
    identity: str
    load: Callable[[], LanguageModel]
    gpus: float = 0

    @property
    def spec(self) -> ModelSpec:
        """Stages of one model share its actors."""
        return ModelSpec(f"llm-{self.model_id}", self.load, self.gpus)


def reader_of(profile: Profile) -> Served:
    """The reader of a profile. Raises ConfigError where it names none."""
    options = getattr(profile, "reader", None)
    if options is None:
        raise ConfigError(
            f"profile {profile.name} names no reader, so nothing can be answered: add to it "
            "`reader: {model: NAME, engine: vllm}`, or `reader: {model: NAME, engine: endpoint, url: URL}`"
        )
    return served(options)


def judge_of(profile: Profile) -> Served | None:
    """The judge of a profile; None where it names none."""
    options = getattr(profile, "judge", None)
    return None if options is None else served(options)


def served(options: object) -> Served:
    """What a profile's options of a language model come to. Raises ConfigError where there is no engine for them."""
    raise ConfigError(f"there is no engine for language models here: {options}")

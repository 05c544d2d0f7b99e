"""The reader and the judge of a profile, as their stages take them."""

from __future__ import annotations

from typing import NamedTuple

from cluster.stage import ModelSpec
from jobs.config import ConfigError, Profile
from jobs.llm_stages import served
from models.llm.options import LlmOptions


class Served(NamedTuple):
    """A language model. `model_id` is part of paths, `identity` of stamps; how it is asked is part of neither."""

    model_id: str
    identity: str
    spec: ModelSpec


def reader_of(profile: Profile) -> Served:
    """The reader of a profile. Raises ConfigError where it names none, ModelNotFound."""
    if profile.reader is None:
        raise ConfigError(
            f"profile {profile.name} names no reader, so nothing can be answered: add to it "
            "`reader: {model: NAME}`, or `reader: {model: NAME, engine: endpoint, url: URL}`"
        )
    return _served(profile.reader)


def judge_of(profile: Profile) -> Served | None:
    """The judge of a profile; None where it names none. Raises ModelNotFound."""
    return None if profile.judge is None else _served(profile.judge)


def _served(options: LlmOptions) -> Served:
    identity, spec = served(options, "")
    return Served(identity.choice_id, identity.text, spec)

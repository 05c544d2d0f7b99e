"""From a profile's choice to a model that answers, and the identity of what it writes."""

from __future__ import annotations

import json

from models.digests import weights_digest
from models.interfaces import LanguageModel
from models.llm.careful import CarefulModel
from models.llm.engine import Engine
from models.llm.options import LlmOptions
from models.resolve import resolve
from models.windowed import ModelIdentity, choice_id


def llm_identity(options: LlmOptions, scheme: str = "") -> ModelIdentity:
    """Who writes what the model answers; `scheme` says how it is asked. A server's weights are not known: its model's
    name stands for them.

    Raises ModelNotFound where vLLM is to load what is not on this machine.
    """
    weights = weights_digest(resolve(options.model).path) if options.engine == "vllm" else options.engine
    text = json.dumps({**options.affects_output(), "weights": weights, "scheme": scheme}, sort_keys=True)
    return ModelIdentity(text, choice_id(options.short_name, text))


def load_llm(options: LlmOptions) -> LanguageModel:
    """The model, ready to answer. Raises ModelNotFound, ImportError without the extra it needs, and what the engine
    raises."""
    return CarefulModel(_engine(options), options.attempts)


def _engine(options: LlmOptions) -> Engine:
    if options.engine == "endpoint":
        from models.llm.endpoint import EndpointEngine  # noqa: PLC0415 - an extra

        return EndpointEngine(options)
    from models.llm.vllm_engine import VllmEngine  # noqa: PLC0415 - an extra

    return VllmEngine(options)

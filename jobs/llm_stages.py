"""How a stage gets a language model: its identity for stamps and paths, and what an actor loads."""

from __future__ import annotations

from functools import partial

from cluster.stage import ModelSpec
from models.llm.load import llm_identity, load_llm
from models.llm.options import LlmOptions
from models.windowed import ModelIdentity


def served(options: LlmOptions, scheme: str) -> tuple[ModelIdentity, ModelSpec]:
    """Who answers when the model is asked as `scheme` says, and the model for an actor.

    Stages that ask one model differently share its actors. A server is asked by one actor, so that its concurrency is
    what the options say. Raises ModelNotFound.
    """
    spec = ModelSpec(
        key=f"llm-{llm_identity(options).choice_id}",
        load=partial(load_llm, options),
        gpus=options.tensor_parallel if options.engine == "vllm" else 0,
        else_cpu=options.engine == "vllm",
        most=1 if options.engine == "endpoint" else None,
    )
    return llm_identity(options, scheme), spec

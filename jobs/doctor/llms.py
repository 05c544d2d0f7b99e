"""The language models that a profile names."""

from __future__ import annotations

import os
from importlib.util import find_spec

from jobs.doctor.check import Found
from models.llm.options import LlmOptions
from models.resolve import find_here
from models.tracking import without_password


def language_model(options: LlmOptions) -> Found:
    """Where a language model lies and whether its engine is installed, or what its server is asked with."""
    return _served(options) if options.engine == "endpoint" else _held(options)


def _held(options: LlmOptions) -> Found:
    if find_spec("vllm") is None:
        return Found("fails", f"{options.model}: vLLM is not installed", "pip install 'slatemill[vllm]'")
    found = find_here(options.model)
    if found is None:
        return Found("fails", f"{options.model} is not here", f"slatemill models fetch {options.model}")
    return Found("ok", f"{options.model}: {found.found_in}, {found.path}")


def _served(options: LlmOptions) -> Found:
    if find_spec("openai") is None:
        return Found("fails", f"{options.model}: the client is not installed", "pip install 'slatemill[endpoint]'")
    place = without_password(options.url or "")
    if not os.environ.get(options.key_variable, "").strip():
        return Found(
            "warning",
            f"{options.model} at {place}, asked without a key",
            f"set {options.key_variable} where the server wants one",
        )
    return Found("ok", f"{options.model} at {place}, with the key in {options.key_variable}")

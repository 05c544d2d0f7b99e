"""What a profile may choose about a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class LlmOptions(BaseModel):
    """A language model, the engine that runs it, and what it costs.

    `engine`: vLLM in a worker of its own, or any server at `url` that speaks OpenAI's protocol, with the key that the
    environment holds under `key_variable`. `dtype`, `quantization`, `tensor_parallel`, `gpu_memory_share` and
    `max_num_seqs` are vLLM's, and so is `kv_cache_gib`, the room for its cache where there is no GPU. `max_model_len`
    is the tokens of a prompt and its answer together. An engine takes as many GPUs as it is parallel, none where the
    cluster has none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1)
    engine: Literal["vllm", "endpoint"] = "vllm"
    url: str | None = None
    key_variable: str = "OPENAI_API_KEY"
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    quantization: str | None = None
    max_model_len: int = Field(default=8192, ge=256)
    tensor_parallel: int = Field(default=1, ge=1)
    gpu_memory_share: float = Field(default=0.9, gt=0, le=1)
    kv_cache_gib: int | None = Field(default=None, ge=1)
    max_num_seqs: int | None = Field(default=None, ge=1)
    concurrency: int = Field(default=16, ge=1)
    """The most prompts that a server is asked at once."""
    timeout_s: float = Field(default=120.0, gt=0)
    """How long a server may take for one answer before it is asked again."""
    max_tokens_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What a server calls the most tokens of an answer; OpenAI's newer models take the second only."""
    repetition_penalty: float = Field(default=1.0, gt=0)
    """Above 1 it keeps small models from repeating themselves; vLLM's."""
    attempts: int = Field(default=3, ge=1)
    """How often a prompt is tried on which alone the engine fails."""
    price_per_million_prompt_tokens: float | None = Field(default=None, ge=0)
    """This and the other prices are in any one currency."""
    price_per_million_completion_tokens: float | None = Field(default=None, ge=0)
    price_per_gpu_hour: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _a_server_has_an_address(self) -> LlmOptions:
        if (self.engine == "endpoint") != (self.url is not None):
            raise ValueError("url is the address of engine endpoint, and of no other: give both or neither")
        return self

    @property
    def short_name(self) -> str:
        """The model's name without owner or folder."""
        return Path(self.model).name

    def affects_output(self) -> dict[str, Any]:
        """The choices that decide what is answered: never hardware, addresses, keys or prices."""
        decisive = self.model_dump(include={"dtype", "quantization", "max_model_len", "repetition_penalty"})
        return {"model": self.short_name, **decisive}

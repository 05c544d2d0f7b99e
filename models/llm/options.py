"""What a profile may choose about a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class LlmOptions(BaseModel):
    """A language model, the engine that runs it, and what it costs.

    `engine`: vLLM in a worker of its own, or any server at `url` that speaks OpenAI's protocol, with the key that the
    environment has under `key_variable`. `dtype`, `quantization`, `tensor_parallel`, `gpu_memory_share` and
    `max_num_seqs` are vLLM's; `kv_cache_gib` is the room for the cache where there is no GPU. `max_model_len` are the
    tokens of a prompt and its answer. A model takes as many GPUs as it is parallel, none where the cluster has none.
    `concurrency` bounds what a server is asked at once, `timeout_s` how long one answer may take. A prompt on which the
    engine fails is tried `attempts` times. `repetition_penalty` above 1 keeps small models from repeating themselves.
    Prices are in any one currency: per million tokens of prompts and of answers, and per hour of a GPU.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
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
    timeout_s: float = Field(default=120, gt=0)
    attempts: int = Field(default=3, ge=1)
    repetition_penalty: float = Field(default=1.0, gt=0)
    price_per_million_prompt_tokens: float | None = Field(default=None, ge=0)
    price_per_million_completion_tokens: float | None = Field(default=None, ge=0)
    price_per_gpu_hour: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _a_server_has_an_address(self) -> LlmOptions:
        if (self.engine == "endpoint") != (self.url is not None):
            raise ValueError("url is the address of engine: endpoint, and of no other: give both or neither")
        return self

    @property
    def short_name(self) -> str:
        """The model's name without owner or folder."""
        return Path(self.model).name

    def decides(self) -> dict[str, Any]:
        """Those choices that decide what is answered: never hardware, addresses, keys or prices."""
        return {
            "name": self.short_name,
            **self.model_dump(include={"dtype", "quantization", "max_model_len", "repetition_penalty"}),
        }

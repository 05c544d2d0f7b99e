"""vLLM in this process's charge: the engine itself runs in a process of its own, which may die and is made anew."""

from __future__ import annotations

import gc
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from models.interfaces import Answer, Prompt
from models.llm.engine import EngineDead, NoEngine
from models.llm.options import LlmOptions
from models.llm.thoughts import without_thoughts
from models.resolve import resolve

if TYPE_CHECKING:
    from vllm import LLM, SamplingParams

_KEPT_PROMPTS = 100_000
"""Prompts whose tokens are kept between being counted and being answered."""
_WATCH_S = 0.5
_STARTS = 2
"""How often an engine is started before it is said that it does not."""
_PAUSE_S = 5


class VllmEngine:
    """A model under vLLM. Raises ImportError where vLLM is not installed, ModelNotFound, or NoEngine."""

    def __init__(self, options: LlmOptions) -> None:
        self.name = options.short_name
        self._options = options
        self._path = str(resolve(options.model).path)
        self._llm: LLM | None = None
        self._tokens: dict[tuple[str, str], list[int]] = {}
        self.restart()

    @property
    def context(self) -> int:
        """The most tokens of a prompt and its answer."""
        return self._options.max_model_len

    @property
    def llm(self) -> LLM:
        """The engine as it is now."""
        assert self._llm is not None
        return self._llm

    def forget_prefixes(self) -> None:
        """Empties the cache of prefixes."""
        self.llm.reset_prefix_cache()

    def restart(self) -> None:
        """Makes the engine, or makes it anew."""
        # The old one goes first: two would not fit.
        self._llm = None
        gc.collect()
        _prepare_environment(self._options)
        from vllm import LLM  # noqa: PLC0415 - an extra, and seconds

        for attempt in range(_STARTS):
            try:
                self._llm = LLM(**_arguments(self._options, self._path))
                return
            except Exception as error:  # its process may have been killed, or memory not be free again yet
                # What vLLM raises may not be fit to travel from a worker to the driver.
                failure = f"vLLM does not start with {self.name}: {type(error).__name__}: {error}"
            time.sleep(_PAUSE_S * (attempt + 1 < _STARTS))
        raise NoEngine(failure)

    def count(self, prompts: Sequence[Prompt]) -> list[int]:
        """Tokens of each prompt, the chat template's included."""
        return [len(self._encoded(prompt)) for prompt in prompts]

    def run(self, prompts: Sequence[Prompt]) -> list[Answer]:
        """Answers a batch. Raises EngineDead when the engine's process is gone, else what vLLM raises."""
        from vllm.inputs import TokensPrompt  # noqa: PLC0415
        from vllm.v1.engine.exceptions import EngineDeadError  # noqa: PLC0415

        inputs = [TokensPrompt(prompt_token_ids=self._encoded(prompt)) for prompt in prompts]
        try:
            with _woken_by_death(self.llm):
                outputs = self.llm.generate(inputs, [self.sampling(prompt) for prompt in prompts], use_tqdm=False)
        except EngineDeadError as error:
            raise EngineDead(f"the process of {self.name}'s engine is gone") from error
        self._tokens.clear()
        return [_answer(prompt, output) for prompt, output in zip(prompts, outputs, strict=True)]

    def _encoded(self, prompt: Prompt) -> list[int]:
        """A prompt's tokens. Counted first and answered later, it is read once."""
        key = (prompt.system, prompt.user)
        if key not in self._tokens:
            if len(self._tokens) >= _KEPT_PROMPTS:
                self._tokens.clear()
            messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
            tokenizer = self.llm.get_tokenizer()
            text = tokenizer.apply_chat_template(
                [message for message in messages if message["content"]],
                tokenize=False,
                add_generation_prompt=True,
                enable_thinking=False,  # templates that know no thinking take no notice
            )
            self._tokens[key] = tokenizer.encode(text, add_special_tokens=False)
        return self._tokens[key]

    def sampling(self, prompt: Prompt) -> SamplingParams:
        """How a prompt is sampled, in vLLM's words."""
        from vllm import SamplingParams  # noqa: PLC0415
        from vllm.sampling_params import StructuredOutputsParams  # noqa: PLC0415

        guided = None if prompt.schema is None else StructuredOutputsParams(json=_schema(prompt.schema))
        return SamplingParams(
            temperature=prompt.temperature,
            seed=prompt.seed,
            max_tokens=prompt.max_tokens,
            repetition_penalty=self._options.repetition_penalty,
            logprobs=prompt.alternatives or None,
            structured_outputs=guided,
        )


def has_cuda() -> bool:
    """Whether this machine has a GPU that CUDA can use."""
    import torch  # noqa: PLC0415

    return bool(torch.cuda.is_available())


@contextmanager
def _woken_by_death(llm: LLM) -> Iterator[None]:
    """Ends a wait for answers when the engine's process has died.

    vLLM 0.32 notices the death in a thread of its own, marks the client, and leaves whoever waits for the next answer
    waiting for ever (SyncMPClient.get_output); so the mark is watched here, and the waiter told.
    """
    from vllm.v1.engine.exceptions import EngineDeadError  # noqa: PLC0415

    client: Any = llm.llm_engine.engine_core
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_WATCH_S):
            if client.resources.engine_dead:
                client.outputs_queue.put_nowait(EngineDeadError())
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _prepare_environment(options: LlmOptions) -> None:
    """What vLLM reads from the environment alone, before it is imported."""
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
    if has_cuda():
        return
    # A shard has one core; the engine of a machine without a GPU has them all.
    os.environ["OMP_NUM_THREADS"] = str(os.cpu_count() or 1)
    if options.kv_cache_gib is not None:
        os.environ["VLLM_CPU_KVCACHE_SPACE"] = str(options.kv_cache_gib)


def _arguments(options: LlmOptions, path: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "model": path,
        "dtype": options.dtype,
        "quantization": options.quantization,
        "max_model_len": options.max_model_len,
        "tensor_parallel_size": options.tensor_parallel,
        "enable_prefix_caching": True,
        # Whitespace between tokens of JSON is where small models lose their way: 24 of 24 answers were valid without,
        # 11 of 24 with it.
        "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
        "disable_log_stats": True,
        "seed": 0,
    }
    if options.max_num_seqs is not None:
        arguments["max_num_seqs"] = options.max_num_seqs
    if has_cuda():
        return arguments | {"gpu_memory_utilization": options.gpu_memory_share}
    return arguments | {"enforce_eager": True}


@cache
def _schema(text: str) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = json.loads(text)
    return schema


def _answer(prompt: Prompt, output: Any) -> Answer:
    (best,) = output.outputs
    likeliest = None
    if prompt.alternatives and best.logprobs is not None:
        likeliest = tuple(
            tuple(
                (option.decoded_token or "", option.logprob)
                for option in sorted(place.values(), key=lambda option: -option.logprob)
            )
            for place in best.logprobs
        )
    return Answer(
        text=without_thoughts(best.text),
        finish=best.finish_reason or "",
        prompt_tokens=len(output.prompt_token_ids),
        cached_tokens=output.num_cached_tokens or 0,
        completion_tokens=len(best.token_ids),
        alternatives=likeliest,
    )

"""`make bench`, where vLLM is: what the writer of records reaches of a bare `LLM.chat` over the same prompts."""

from __future__ import annotations

import io
import os
import statistics
import time
from typing import Any

from models.fetch import fetch
from models.llm.careful import CarefulModel
from models.llm.options import LlmOptions
from models.llm.vllm_engine import VllmEngine
from models.tokens import token_counter
from pipeline import schemas
from pipeline.ingest.formats import arrivals
from pipeline.ingest.settle import settle
from pipeline.ingest.source import Document
from pipeline.records.fitting import unit_prompts
from pipeline.records.record import UnitText
from pipeline.records.taken import told
from pipeline.records.write import unit_texts
from pipeline.synth.histories import json_chunks
from pipeline.units.cut import CutOptions, units

_ROUNDS = 3
_UNITS = 16
_SMALL = "smollm2-135m"


def main() -> None:
    """Prints tokens of answers per second of both, in turns, and their ratio: start-up apart, first attempts only."""
    model_path = os.environ.get("SLATEMILL_BENCH_MODEL", str(fetch(_SMALL).path))
    # Without the penalty a small model repeats itself up to the limit, and the bench takes a quarter of an hour.
    options = LlmOptions(model=model_path, kv_cache_gib=2, repetition_penalty=1.1)
    engine = VllmEngine(options)
    model = CarefulModel(engine, options.attempts)
    read = _units()
    bare_requests = _as_chat(engine, model, read)
    rates: dict[str, list[float]] = {"stage": [], "bare": []}
    for _ in range(_ROUNDS):
        engine.forget_prefixes()
        started = time.perf_counter()
        asked = unit_prompts(read, model)
        answers = model.answer([each.prompt for each in asked])
        for unit, answer in zip(read, answers, strict=True):
            told(answer, unit)
        seconds = time.perf_counter() - started
        rates["stage"].append(sum(answer.completion_tokens for answer in answers) / seconds)
        engine.forget_prefixes()
        started = time.perf_counter()
        outputs = engine.llm.chat(**bare_requests)
        seconds = time.perf_counter() - started
        rates["bare"].append(sum(len(output.outputs[0].token_ids) for output in outputs) / seconds)
    stage, bare = (statistics.median(rates[name]) for name in ("stage", "bare"))
    print(f"records of {len(read)} units by {engine.name}, tokens of answers per second, median of {_ROUNDS}:")
    print(f"  the stage {stage:.0f}, LLM.chat alone {bare:.0f}: {stage / bare:.2f} of it")
    print(f"  prefix cache: {model.spent.cached_tokens / model.spent.prompt_tokens:.0%} of the tokens of prompts")


def _units() -> list[UnitText]:
    """Units of generated chats."""
    stream = io.BytesIO(b"".join(json_chunks(histories=3, sessions=20, seed=0)))
    arrived = list(arrivals("longmemeval", [Document.of(stream, "generated")], {}))
    nothing = (schemas.SOURCES.empty_table(), schemas.REQUESTS.empty_table(), schemas.LABELS.empty_table())
    turns = settle(arrived, 1, *nothing, token_counter("o200k_base")).turns
    cut = units(turns, (), CutOptions(), token_counter("o200k_base"))
    return unit_texts(cut, turns)[:_UNITS]


def _as_chat(engine: VllmEngine, model: CarefulModel, read: list[UnitText]) -> dict[str, Any]:
    """The arguments of LLM.chat for the same prompts, sampled alike."""
    prompts = [each.prompt for each in unit_prompts(read, model)]
    return {
        "messages": [
            [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
            for prompt in prompts
        ],
        "sampling_params": [engine.sampling(prompt) for prompt in prompts],
        "use_tqdm": False,
    }


if __name__ == "__main__":
    main()

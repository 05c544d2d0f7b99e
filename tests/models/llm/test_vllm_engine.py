"""A real vLLM with a real small model: what it answers, what breaks it, and what comes after it has died."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from models.interfaces import LanguageModel, Prompt
from models.llm.careful import CarefulModel
from models.llm.engine import ModelGone
from models.llm.options import LlmOptions
from models.llm.vllm_engine import VllmEngine

pytestmark = pytest.mark.vllm

OPTIONS = LlmOptions(model="smollm2-135m", dtype="bfloat16", max_model_len=2048, kv_cache_gib=1, repetition_penalty=1.1)
LONG_INSTRUCTIONS = "You answer in one short sentence, in plain words and without lists. " * 20
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "summary": {"type": "string", "maxLength": 120},
            "mood": {"enum": ["good", "bad"]},
            "names": {"type": "array", "items": {"type": "string", "maxLength": 20}, "maxItems": 2},
        },
        "required": ["summary", "mood", "names"],
        "additionalProperties": False,
    }
)


@pytest.fixture(scope="module")
def model(small_llm: Path) -> LanguageModel:
    return CarefulModel(VllmEngine(OPTIONS), attempts=2)


def asked(text: str, **more: object) -> Prompt:
    return Prompt("You answer in one short sentence.", text, **{"max_tokens": 24, **more})


def engine_processes() -> list[int]:
    """The processes in which engines of this one run."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "status").read_text()
            named = "EngineCore" in (folder / "cmdline").read_text() or "EngineCore" in (folder / "comm").read_text()
        except OSError:
            continue
        if named and f"PPid:\t{os.getpid()}" in status:
            found.append(int(folder.name))
    return found


def test_bad_prompts_among_good_ones_are_marked_with_a_reason_and_the_good_ones_answered(model):
    good = [asked(f"What is {n} and {n}?") for n in range(5)]
    bad = {
        1: (asked("word " * 5000), "5,"),
        3: (asked("x" * 1_000_000), ""),
        4: (asked(" \n"), "empty"),
    }
    odd = {2: asked("A lone \ud83d and a NUL \x00 here."), 6: asked("<|im_end|><|endoftext|><|im_start|>system")}
    prompts = list(good)
    for place, prompt in sorted({**{place: prompt for place, (prompt, _) in bad.items()}, **odd}.items()):
        prompts.insert(place, prompt)
    answers = model.answer(prompts)
    assert len(answers) == len(prompts)
    for place, (prompt, answer) in enumerate(zip(prompts, answers, strict=True)):
        if prompt in [each for each, _ in bad.values()]:
            (why,) = [why for each, why in bad.values() if each == prompt]
            assert (answer.status, answer.text) == ("failed", ""), place
            assert answer.reason.startswith(why)
        else:
            assert answer.status == "ok", place
            assert answer.completion_tokens > 0
    assert [len(answer.text) > 0 for answer, prompt in zip(answers, prompts, strict=True) if prompt in good] == [
        True
    ] * 5


def test_guided_answers_have_the_shape_of_the_schema(model):
    prompts = [asked(f"Ann and Bob walk in park {n}.", max_tokens=120, schema=SCHEMA) for n in range(8)]
    answers = model.answer(prompts)
    values = [json.loads(answer.text) for answer in answers if answer.finish == "stop"]
    assert len(values) >= 6
    for value in values:
        assert set(value) == {"summary", "mood", "names"}
        assert value["mood"] in ("good", "bad")
        assert len(value["names"]) <= 2


def test_a_greedy_answer_comes_again_and_seeds_tell_others_apart(model):
    first, second = (model.answer([asked("Tell me of the sea.")])[0].text for _ in range(2))
    assert first == second
    warm = [asked("Tell me of the sea.", temperature=1.0, seed=seed) for seed in (1, 2, 1)]
    one, other, again = (answer.text for answer in model.answer(warm))
    assert one == again != other


def test_the_likeliest_tokens_stand_at_each_place_with_the_answer_s_own_first(model):
    (answer,) = model.answer([asked("Say yes or no.", max_tokens=3, alternatives=5)])
    assert answer.alternatives is not None
    assert len(answer.alternatives) == answer.completion_tokens
    for place in answer.alternatives:
        assert len(place) >= 5
        assert [logprob for _, logprob in place] == sorted((logprob for _, logprob in place), reverse=True)
    assert answer.text.startswith(answer.alternatives[0][0][0].strip()[:1])


def test_instructions_that_stand_first_are_read_once(model):
    prompts = [Prompt(LONG_INSTRUCTIONS, f"Question {n}?", 4) for n in range(6)]
    model.answer(prompts[:1])
    before = model.spent
    model.answer(prompts[1:])
    spent = model.spent.since(before)
    assert spent.calls == 5
    assert spent.cached_tokens > 0.5 * spent.prompt_tokens
    assert spent.model_seconds > 0


def test_an_engine_that_is_killed_in_the_middle_is_made_anew_and_every_prompt_answered(model):
    (running,) = engine_processes()
    killer = threading.Timer(1.0, os.kill, (running, signal.SIGKILL))
    killer.start()
    answers = model.answer([asked(f"Tell me a story about {n} goats.", max_tokens=300) for n in range(16)])
    killer.join()
    assert [answer.status for answer in answers] == ["ok"] * 16
    assert engine_processes() != [running]


def test_an_engine_that_dies_again_and_again_is_given_up(small_llm):
    class Deadly(VllmEngine):
        def run(self, prompts):
            for process in engine_processes():
                os.kill(process, signal.SIGKILL)
            time.sleep(1)
            return super().run(prompts)

        def restart(self) -> None:
            if self._llm is None:
                super().restart()  # once: the one that is dead stays so

    with pytest.raises(ModelGone, match="made anew 2 times in a row"):
        CarefulModel(Deadly(OPTIONS), attempts=9).answer([asked("One."), asked("Two.")])

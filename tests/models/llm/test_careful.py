"""Every prompt gets one answer, in its place, whatever some of them do to the engine; and little is asked twice."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.interfaces import Answer, Prompt, Spent
from models.llm.careful import CarefulModel
from models.llm.engine import EngineDead, ModelGone

pytestmark = pytest.mark.flash

GOOD, BAD, UNREADABLE, KILLER = "good", "BAD", "UNREADABLE", "KILLER"


class ScriptedEngine:
    """Fails on prompts that say so; a character is a token, and it takes no text that is not UTF-8."""

    name = "scripted"
    context = 5_000

    def __init__(self, deaths: int = 0) -> None:
        self.calls = 0
        self.restarts = 0
        self.read: list[str] = []
        self.dead = False
        self._deaths = deaths

    def count(self, prompts: Sequence[Prompt]) -> list[int]:
        assert not self.dead
        for prompt in prompts:
            prompt.user.encode()
            if UNREADABLE in prompt.user:
                raise KeyError("no such piece")
        return [len(prompt.system) + len(prompt.user) for prompt in prompts]

    def run(self, prompts: Sequence[Prompt]) -> list[Answer]:
        assert not self.dead
        assert prompts
        self.calls += 1
        for prompt in prompts:
            assert 0 < len(prompt.user) <= self.context - prompt.max_tokens
            assert "\x00" not in prompt.user
        if self._deaths or any(KILLER in prompt.user for prompt in prompts):
            self._deaths = max(0, self._deaths - 1)
            self.dead = True
            raise EngineDead("the engine's process is gone")
        if any(BAD in prompt.user for prompt in prompts):
            raise ValueError("cannot   take\nthat")
        self.read += [prompt.user for prompt in prompts]
        return [Answer(prompt.user[::-1], finish="stop", prompt_tokens=2, completion_tokens=1) for prompt in prompts]

    def restart(self) -> None:
        assert self.dead
        self.restarts += 1
        self.dead = False


def prompts(*texts: str) -> list[Prompt]:
    return [Prompt("", text, 8) for text in texts]


TEXTS = st.sampled_from([GOOD, GOOD, GOOD, BAD, UNREADABLE, "", " \n", "x" * 6_000])


@given(st.lists(TEXTS, max_size=40), st.integers(1, 4))
def test_every_good_prompt_is_answered_every_bad_one_has_a_reason_and_order_is_kept(texts, attempts):
    texts = [text and f"{text}{row}" if text.strip() else text for row, text in enumerate(texts)]
    engine = ScriptedEngine()
    answers = CarefulModel(engine, attempts).answer(prompts(*texts))
    assert len(answers) == len(texts)
    for text, answer in zip(texts, answers, strict=True):
        if text.startswith(GOOD):
            assert (answer.status, answer.text, answer.reason) == ("ok", text[::-1], "")
        else:
            assert (answer.status, answer.text) == ("failed", "")
            assert answer.reason
    bad = sum(BAD in text for text in texts)
    assert len(engine.read) == len(set(engine.read))  # nothing good was answered twice
    per_culprit = 2 * math.ceil(math.log2(max(len(texts), 2))) + attempts
    assert engine.calls <= 1 + bad * per_culprit


@given(st.integers(1, 200), st.data())
def test_one_culprit_costs_calls_by_the_logarithm(n, data):
    texts = [f"{GOOD}{row}" for row in range(n)]
    texts[data.draw(st.integers(0, n - 1))] = BAD
    engine = ScriptedEngine()
    answers = CarefulModel(engine).answer(prompts(*texts))
    assert [answer.status for answer in answers].count("failed") == 1
    assert engine.calls <= 1 + 2 * math.ceil(math.log2(max(n, 2))) + 3


@given(st.integers(1, 200), st.data())
def test_one_prompt_that_kills_the_engine_is_found_and_costs_no_other_its_answer(n, data):
    texts = [f"{GOOD}{row}" for row in range(n)]
    row = data.draw(st.integers(0, n - 1))
    texts[row] = KILLER
    engine = ScriptedEngine()
    model = CarefulModel(engine)
    answers = model.answer(prompts(*texts))
    assert answers[row].reason == "kills the engine: EngineDead: the engine's process is gone"
    assert [answer.text for answer in answers if answer.status == "ok"] == [
        text[::-1] for text in texts if text != KILLER
    ]
    assert engine.restarts <= math.ceil(math.log2(max(n, 2))) + 2
    assert model.answer(prompts("after"))[0].text == "retfa"


def test_several_that_kill_the_engine_are_found_where_more_restarts_are_granted():
    texts = [KILLER if row % 20 == 7 else f"{GOOD}{row}" for row in range(60)]
    answers = CarefulModel(ScriptedEngine(), restarts=8).answer(prompts(*texts))
    assert [answer.status for answer in answers] == ["failed" if text == KILLER else "ok" for text in texts]


@pytest.mark.parametrize("deaths", [1, 2])
def test_an_engine_that_dies_of_nothing_is_made_anew_and_all_are_answered(deaths):
    engine = ScriptedEngine(deaths)
    answers = CarefulModel(engine).answer(prompts("a", "b", "c"))
    assert [answer.text for answer in answers] == ["a", "b", "c"]
    assert engine.restarts == deaths


def test_an_engine_that_dies_whatever_it_is_asked_is_given_up():
    engine = ScriptedEngine(deaths=1_000)
    with pytest.raises(ModelGone, match=r"made anew 2 times in a row.*process is gone"):
        CarefulModel(engine).answer(prompts(*"abcdefgh"))
    assert engine.restarts == 2


def test_restarts_are_bounded_in_all():
    engine = ScriptedEngine()
    model = CarefulModel(engine, restarts=2)

    def go_on() -> None:
        for _ in range(100):
            model.answer(prompts("a", KILLER, "b"))

    with pytest.raises(ModelGone, match="20 times in all"):
        go_on()
    assert engine.restarts == 20


class Unhealed(ScriptedEngine):
    def restart(self) -> None:
        self.restarts += 1
        if self.restarts < 2:
            raise MemoryError("no room yet")
        self.dead = False


def test_a_restart_that_fails_is_tried_again():
    engine = Unhealed(deaths=1)
    assert CarefulModel(engine).answer(prompts("a"))[0].text == "a"
    assert engine.restarts == 2


class Gone(ScriptedEngine):
    def run(self, prompts: Sequence[Prompt]) -> list[Answer]:
        self.calls += 1
        raise ModelGone("the key is wrong")


def test_what_no_trying_helps_is_raised_at_once():
    engine = Gone()
    with pytest.raises(ModelGone, match="key is wrong"):
        CarefulModel(engine).answer(prompts("a", "b"))
    assert engine.calls == 1


class Short(ScriptedEngine):
    def run(self, prompts: Sequence[Prompt]) -> list[Answer]:
        return super().run(prompts)[:1]


def test_an_engine_that_answers_too_few_is_asked_for_fewer():
    assert [answer.text for answer in CarefulModel(Short()).answer(prompts("a", "b", "c"))] == ["a", "b", "c"]


def test_prompts_that_break_a_naive_batch_cost_no_other_its_answer():
    texts = ["one", "", "\ud83d lone", "a\x00b", "<|endoftext|> </s> [INST]", "w " * 4_000, "x" * 1_000_000, "last"]
    answers = CarefulModel(ScriptedEngine()).answer(prompts(*texts))
    assert [answer.status for answer in answers] == ["ok", "failed", *["ok"] * 3, "failed", "failed", "ok"]
    assert [answer.reason for answer in answers if answer.reason] == [
        "empty",
        "8,000 tokens, and the model takes 5,000 less 8 for the answer",
        "1,000,000 tokens, and the model takes 5,000 less 8 for the answer",
    ]
    assert [answers[row].text for row in (2, 3)] == ["enol \ufffd", "ba"]


def test_attempts_count_how_often_the_engine_was_handed_a_prompt():
    answers = CarefulModel(ScriptedEngine(), attempts=3).answer(prompts("a", BAD, "", UNREADABLE))
    assert [answer.attempts for answer in answers] == [2, 4, 0, 0]
    assert answers[1].reason == "ValueError: cannot take that"
    assert answers[3].reason == "KeyError: 'no such piece'"


def test_what_was_spent_adds_up_with_what_failed():
    model = CarefulModel(ScriptedEngine(), attempts=1)
    model.answer(prompts("a", BAD))
    before = model.spent
    assert before[:4] == (4, 2, 0, 1)
    model.answer(prompts("a"))
    assert model.spent.since(before)[:4] == (1, 2, 0, 1)
    assert model.spent.model_seconds >= before.model_seconds > 0


@given(*[st.builds(Spent, *[st.integers(0, 99)] * 4, st.integers(0, 99).map(float)) for _ in "ab"])
def test_usage_is_added_and_taken_away(one, other):
    assert one.plus(other).since(other) == one
    assert one.plus(other) == other.plus(one)
    assert one.since(one) == Spent()


def test_what_cannot_be_read_counts_as_more_than_the_context():
    assert CarefulModel(ScriptedEngine()).count(prompts("abc", UNREADABLE, "\ud83d")) == [3, 5_001, 1]


def test_no_prompts_ask_nothing():
    engine = ScriptedEngine()
    assert CarefulModel(engine).answer([]) == []
    assert engine.calls == 0

"""What servers do wrong costs one prompt its answer, or stops the batch with a word on what to do; no key is told."""

from __future__ import annotations

import logging
import pickle
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from scripted_server import Said, Script, ScriptedServer, closed_port, refuses, says, scripted_server

from models.interfaces import Answer, LanguageModel, Prompt
from models.llm.careful import CarefulModel
from models.llm.endpoint import EndpointEngine
from models.llm.engine import Engine, EngineDead, ModelGone
from models.llm.options import LlmOptions

pytestmark = pytest.mark.flash

KEY = "sk-the-secret-of-this-test"
SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", KEY)


def engine_at(url: str, retries: int = 1, **options: Any) -> EndpointEngine:
    chosen = {"model": "org/m", "engine": "endpoint", "url": url, "key_variable": "A_KEY", **options}
    return EndpointEngine(LlmOptions.model_validate(chosen), retries)


@contextmanager
def served(script: Script, retries: int = 1, **options: Any) -> Iterator[tuple[ScriptedServer, EndpointEngine]]:
    with scripted_server(script) as server:
        yield server, engine_at(server.url, retries, **options)


def user_of(request: dict[str, Any]) -> str:
    user: str = request["messages"][-1]["content"]
    return user


def echo(request: dict[str, Any], _: int) -> Said:
    return says(user_of(request).upper())


def prompts(*texts: str, **more: Any) -> list[Prompt]:
    return [Prompt("be brief", text, 64, **more) for text in texts]


def one(script: Script, retries: int = 1, **more: Any) -> Answer:
    with served(script, retries) as (_, engine):
        return CarefulModel(engine).answer(prompts("a", **more))[0]


def test_it_is_an_engine_and_answers_in_order_with_what_was_spent():
    with served(echo) as (server, engine):
        plain: Engine = engine
        model: LanguageModel = CarefulModel(plain)
        answers = model.answer(prompts("a", "b", "a"))
    assert [answer.text for answer in answers] == ["A", "B", "A"]
    assert answers[0] == Answer("A", finish="stop", prompt_tokens=10, cached_tokens=4, completion_tokens=3)
    assert model.spent[:4] == (3, 30, 12, 9)
    assert (engine.name, engine.context) == ("m", 8192)
    assert server.keys == {f"Bearer {KEY}"}


def test_a_request_says_all_that_the_prompt_does():
    with served(echo) as (server, engine):
        engine.run(prompts("a", schema=SCHEMA, temperature=0.5, seed=7, alternatives=3))
        engine.run([Prompt("", "b", 9)])
    full, bare = server.asked
    assert full["model"] == "org/m"
    assert full["messages"] == [{"role": "system", "content": "be brief"}, {"role": "user", "content": "a"}]
    assert (full["temperature"], full["seed"], full["max_tokens"]) == (0.5, 7, 64)
    assert (full["logprobs"], full["top_logprobs"]) == (True, 3)
    shape = full["response_format"]["json_schema"]
    assert full["response_format"]["type"] == "json_schema"
    assert shape["strict"] is True
    assert shape["schema"]["required"] == ["a"]
    assert bare["messages"] == [{"role": "user", "content": "b"}]
    assert not {"response_format", "logprobs", "top_logprobs"} & set(bare)


def test_a_schema_that_is_no_json_is_a_mistake_of_ours_and_asks_nothing():
    with served(echo) as (server, engine):
        with pytest.raises(ValueError):
            engine.run(prompts("a", "b", schema="{not json"))
        assert server.asked == []


def test_newer_servers_call_the_most_tokens_otherwise():
    with served(echo, max_tokens_name="max_completion_tokens") as (server, engine):
        engine.run(prompts("a"))
    assert server.asked[0]["max_completion_tokens"] == 64
    assert "max_tokens" not in server.asked[0]


def test_the_likeliest_tokens_come_likeliest_first_and_without_those_of_thoughts():
    def place(token: str, *options: tuple[str, float]) -> dict[str, Any]:
        top = [{"token": each, "logprob": logprob, "bytes": None} for each, logprob in options]
        return {"token": token, "logprob": -0.1, "bytes": None, "top_logprobs": top}

    content = [place("<think>"), place("x</think>", ("y", -1.0)), place("7", ("8", -2.0), ("7", -0.2))]
    answer = one(lambda *_: says("<think>x</think>7", logprobs={"content": content, "refusal": None}), alternatives=2)
    assert answer.text == "7"
    assert answer.alternatives == ((("7", -0.2), ("8", -2.0)),)
    assert one(lambda *_: says("7"), alternatives=2).alternatives is None


def test_a_busy_server_is_given_the_time_it_asks_for():
    def script(request: dict[str, Any], time_of_asking: int) -> Said:
        return says("ok") if time_of_asking else Said(429, {"error": {"message": "slow"}}, (("retry-after", "1"),))

    started = time.monotonic()
    assert one(script).text == "ok"
    assert time.monotonic() - started >= 1


@pytest.mark.parametrize("status", [500, 502, 503, 408])
def test_what_a_server_gets_right_in_the_end_is_an_answer(status):
    answer = one(lambda _, times: says("ok") if times == 2 else refuses(status, "not now"), retries=3)
    assert (answer.text, answer.status) == ("ok", "ok")


def test_a_prompt_on_which_the_server_breaks_every_time_fails_alone():
    def script(request: dict[str, Any], _: int) -> Said:
        return refuses(500, "out of luck") if user_of(request) == "b" else echo(request, 0)

    with served(script) as (server, engine):
        answers = CarefulModel(engine).answer(prompts("a", "b", "c"))
        assert [answer.text for answer in answers] == ["A", "", "C"]
        assert answers[1].reason.startswith("500: ")
        assert "out of luck" in answers[1].reason
        assert [server.times(text) for text in "abc"] == [1, 2, 1]


def test_a_prompt_that_the_server_refuses_fails_alone_and_is_not_asked_again():
    def script(request: dict[str, Any], _: int) -> Said:
        long = user_of(request) == "b"
        return refuses(400, "maximum context length", "context_length_exceeded") if long else echo(request, 0)

    with served(script) as (server, engine):
        answers = CarefulModel(engine).answer(prompts("a", "b", "c"))
        assert [answer.status for answer in answers] == ["ok", "failed", "ok"]
        assert answers[1].reason.startswith("400: ")
        assert "maximum context length" in answers[1].reason
        assert server.times("b") == 1


def test_a_connection_that_is_dropped_is_made_again_and_one_always_dropped_fails_its_prompt_alone():
    def script(request: dict[str, Any], time_of_asking: int) -> Said:
        dropped = user_of(request) == "b" or (user_of(request) == "a" and not time_of_asking)
        return Said(drop=True) if dropped else echo(request, 0)

    with served(script) as (_, engine):
        answers = CarefulModel(engine).answer(prompts("a", "b", "c"))
    assert [answer.text for answer in answers] == ["A", "", "C"]
    assert answers[1].reason == "the server broke off the connection, 2 times"


def test_an_answer_that_does_not_come_in_time_fails_its_prompt_alone():
    def script(request: dict[str, Any], _: int) -> Said:
        return echo(request, 0)._replace(wait=2.0 if user_of(request) == "b" else 0.0)

    with served(script, retries=0, timeout_s=0.5) as (_, engine):
        answers = CarefulModel(engine).answer(prompts("a", "b", "c"))
    assert [answer.text for answer in answers] == ["A", "", "C"]
    assert answers[1].reason == "no answer within 0.5 s, 1 times"


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        ('{"a": [1, 2', "length"),
        ('```json\n{"a": 1}\n```', "stop"),
        ("so it goes, " * 40, "length"),
        ("", "length"),
    ],
    ids=["cut", "fence", "loop", "thought until the end"],
)
def test_bad_answers_come_as_what_they_are(text, finish):
    answer = one(lambda *_: says(text, finish, reasoning_content="I wonder"), schema=SCHEMA)
    assert (answer.text, answer.finish, answer.status) == (text, finish, "ok")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>Hm.\n</think>\n\nYes", "Yes"),
        ("<think>Hm, and so on", ""),
        ("Yes <think>no</think>", "Yes <think>no</think>"),
        (None, ""),
    ],
)
def test_thoughts_are_no_part_of_the_answer(content, text):
    assert one(lambda *_: says(content, "length", reasoning="I wonder")).text == text


def test_a_refusal_is_an_answer_that_says_so_and_a_filtered_one_is_none():
    refused = one(lambda *_: says(None, refusal="I can't help with that."))
    assert (refused.text, refused.status, refused.reason) == ("I can't help with that.", "ok", "refusal")
    filtered = one(lambda *_: says("half", "content_filter"))
    assert (filtered.text, filtered.status) == ("", "failed")


@pytest.mark.parametrize(
    "body", [{"error": {"message": "overloaded"}}, {"choices": []}, [], "text", b"{not json", b"", None]
)
def test_a_200_without_an_answer_fails_its_prompt_alone(body):
    def script(request: dict[str, Any], _: int) -> Said:
        return Said(body=body) if user_of(request) == "b" else echo(request, 0)

    with served(script) as (_, engine):
        answers = CarefulModel(engine).answer(prompts("a", "b", "c"))
    assert [answer.text for answer in answers] == ["A", "", "C"]
    assert answers[1].reason


@pytest.mark.parametrize(
    ("status", "code", "says_what_to_do"),
    [
        (401, "invalid_api_key", "set the environment variable A_KEY"),
        (403, None, "A_KEY may not use model org/m"),
        (404, "model_not_found", "look at `model` and `url`"),
        (429, "insufficient_quota", "the quota is used up"),
    ],
)
def test_what_every_prompt_would_get_is_raised_at_once_with_what_to_do(status, code, says_what_to_do):
    script = lambda *_: refuses(status, "no", code)  # noqa: E731
    with served(script, retries=0, concurrency=2) as (server, engine):
        with pytest.raises(ModelGone, match=says_what_to_do):
            CarefulModel(engine).answer(prompts(*(str(row) for row in range(50))))
        assert len(server.asked) <= 2


def test_a_server_that_is_not_there_is_a_dead_engine_and_given_up_in_the_end():
    engine = engine_at(f"http://user:pass-word@127.0.0.1:{closed_port()}/v1", retries=1)
    with pytest.raises(EngineDead, match="cannot be reached"):
        engine.run(prompts("a"))
    with pytest.raises(EngineDead, match="cannot be reached"):
        engine.restart()
    with pytest.raises(ModelGone, match="cannot be reached") as raised:
        CarefulModel(engine, restarts=1).answer(prompts("a", "b"))
    assert "pass-word" not in "".join(traceback.format_exception(raised.value))


def test_a_server_that_stays_too_busy_is_a_dead_engine_and_what_it_answered_is_not_asked_again():
    busy = [True]

    def script(request: dict[str, Any], _: int) -> Said:
        return refuses(429, "slow down") if user_of(request) == "b" and busy[0] else echo(request, 0)

    with served(script) as (server, engine):
        with pytest.raises(EngineDead, match="too busy"):
            engine.run(prompts("a", "b"))
        engine.restart()
        busy[0] = False
        assert [answer.text for answer in engine.run(prompts("b", "a"))] == ["B", "A"]
        assert server.times("a") == 1
        engine.run(prompts("a"))
        assert server.times("a") == 2


def test_no_more_is_asked_at_once_than_the_options_say():
    with served(lambda request, _: echo(request, 0)._replace(wait=0.05), concurrency=3) as (server, engine):
        engine.run(prompts(*(str(row) for row in range(20))))
    assert server.most_at_once == 3


def test_prompts_that_break_a_naive_batch_cost_no_other_its_answer():
    texts = ["one", "", "\ud83d lone", "a\x00b", "<|endoftext|> </s>", "x" * 1_000_000, "w " * 9_000, "last"]
    with served(echo, max_model_len=4096) as (_, engine):
        answers = CarefulModel(engine).answer(prompts(*texts))
    assert [answer.text for answer in answers] == [
        "ONE", "", "\ufffd LONE", "AB", "<|ENDOFTEXT|> </S>", "", "", "LAST"
    ]  # fmt: skip
    assert [bool(answer.reason) for answer in answers] == [not answer.text for answer in answers]


def test_the_key_stands_in_no_log_no_error_no_answer_and_no_repr(caplog):
    caplog.set_level(logging.DEBUG)

    def script(request: dict[str, Any], _: int) -> Said:
        said = {"a": 400, "b": 500, "c": 401, "e": 429}.get(user_of(request), 200)
        return refuses(said, f"key {KEY} and more") if said != 200 else Said(body={"error": f"bad {KEY}"})

    told: list[str] = []
    with served(script, retries=1) as (server, engine):
        told += [str(answer) for answer in CarefulModel(engine).answer(prompts("a", "b", "d"))]
        for text in "ce":
            with pytest.raises((ModelGone, EngineDead)) as raised:
                engine.run(prompts(text))
            told += ["".join(traceback.format_exception(raised.value)), repr(raised.value), str(vars(raised.value))]
            told += [repr(raised.value.__cause__), repr(raised.value.__context__)]
        told += [repr(engine), repr(vars(engine)), repr(pickle.dumps(engine))]
        assert server.keys == {f"Bearer {KEY}"}
    assert any("(key)" in text for text in told)
    assert KEY not in "".join(told)
    assert KEY not in caplog.text
    assert KEY not in "".join(repr(vars(record)) for record in caplog.records)


def test_a_server_of_ones_own_needs_no_key(monkeypatch):
    monkeypatch.delenv("A_KEY")
    with served(echo) as (_, engine):
        assert engine.run(prompts("a"))[0].text == "A"


def test_tokens_are_counted_about_and_rather_too_many():
    engine = engine_at("http://127.0.0.1:1/v1")
    short, long = engine.count(prompts("a", "word " * 1_000))
    assert 0 < short < 30
    assert 1_000 <= long <= 1_200
    assert engine.count([]) == []

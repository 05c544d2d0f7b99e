"""Any server that speaks OpenAI's protocol of chat completions, asked for many answers at once."""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from models.interfaces import Answer, Prompt
from models.llm.engine import EngineDead, ModelGone
from models.llm.options import LlmOptions
from models.llm.replies import read_reply
from models.tokens import O200k
from models.tracking import without_password

if TYPE_CHECKING:
    from openai import AsyncOpenAI

RETRIES = 6
"""How often a request is sent again that the server was too busy for, or that broke: half a minute of back-off, or what
the server's Retry-After says."""

_NO_KEY = "none"
"""Servers of one's own want no key; the client wants some text."""
_TEMPLATE_TOKENS = 16
_OTHER_TOKENIZER = 1.1
"""Tokens of a model whose tokenizer is not known, for one of o200k_base: about."""
_MOST_ALTERNATIVES = 20
"""More of them the protocol does not have."""
_REASON = 200
_MENDS = {
    401: "it wants a key, or another one: set the environment variable {key}",
    403: "the key in the environment variable {key} may not use model {model}",
    404: "it has no model {model}, or no chat completions: look at `model` and `url` (most end in /v1)",
}
"""What to do about a status that every prompt would get."""
_BUSY = (429, 503)


class EndpointEngine:
    """A server as an engine. Raises ImportError without the extra `endpoint`.

    Of one prompt that the server refuses, or does not answer in time, only that one fails. EngineDead where the server
    cannot be reached, or stays too busy, through all retries; ModelGone where the key, model or address is wrong, or
    the quota used up. What was answered by then is kept for when the same prompt comes again. The key is read from the
    environment for each batch, and stands in no text.
    """

    def __init__(self, options: LlmOptions, retries: int = RETRIES) -> None:
        _client_library()
        self.name = options.short_name
        self.context = options.max_model_len
        self._options = options
        self._retries = retries
        self._counter = O200k()
        self._kept: dict[Prompt, Answer] = {}

    def count(self, prompts: Sequence[Prompt]) -> list[int]:
        """Tokens of each prompt, about: the server's tokenizer is not known."""
        counts = self._counter.count_many([prompt.system for prompt in prompts])
        counts += self._counter.count_many([prompt.user for prompt in prompts])
        return [math.ceil(count * _OTHER_TOKENIZER) + _TEMPLATE_TOKENS for count in counts.tolist()]

    def run(self, prompts: Sequence[Prompt]) -> list[Answer]:
        """Answers a batch, `concurrency` prompts at once."""
        left = list(dict.fromkeys(prompt for prompt in prompts if prompt not in self._kept))
        stop, answers = asyncio.run(self._answers(left))
        self._kept |= answers
        if stop is not None:
            raise stop
        given = [self._kept[prompt] for prompt in prompts]
        for prompt in set(prompts):
            del self._kept[prompt]
        return given

    def restart(self) -> None:
        """Looks whether the server can be reached. Raises EngineDead where it cannot."""
        asyncio.run(self._reach())

    async def _reach(self) -> None:
        library = _client_library()
        unreached = False
        async with self._client(library) as client:
            try:
                await client.models.list()
            except library.APIConnectionError:
                unreached = True
            except library.APIStatusError:
                pass  # some have no list of models; whoever says so is there
        if unreached:
            raise EngineDead(self._unreached())

    async def _answers(self, prompts: Sequence[Prompt]) -> tuple[Exception | None, dict[Prompt, Answer]]:
        """What keeps the rest from being asked, and what was answered by then."""
        library = _client_library()
        requests = [(prompt, self._request(prompt)) for prompt in prompts]
        answers: dict[Prompt, Answer] = {}
        stops: list[Exception] = []
        turn = asyncio.Semaphore(self._options.concurrency)

        async def ask(client: AsyncOpenAI, prompt: Prompt, request: dict[str, Any]) -> None:
            async with turn:
                if stops:
                    return
                try:
                    reply = await client.chat.completions.create(**request)
                    made = read_reply(reply, prompt.alternatives)
                    answers[prompt] = made._replace(reason=self._quoted(made.reason))
                except Exception as error:  # the client's own, and what a body that is no JSON makes it raise
                    failure = self._failure(error)
                    if isinstance(failure, str):
                        answers[prompt] = Answer("", "failed", self._quoted(failure))
                    else:
                        stops.append(failure)

        async with self._client(library) as client:
            await asyncio.gather(*(ask(client, prompt, request) for prompt, request in requests))
        return (stops[0] if stops else None), answers

    def _client(self, library: Any) -> AsyncOpenAI:
        client: AsyncOpenAI = library.AsyncOpenAI(
            api_key=self._key() or _NO_KEY,
            base_url=self._options.url,
            timeout=self._options.timeout_s,
            max_retries=self._retries,
        )
        return client

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        said = (("system", prompt.system), ("user", prompt.user))
        request: dict[str, Any] = {
            "model": self._options.model,
            "messages": [{"role": role, "content": text} for role, text in said if text],
            "temperature": prompt.temperature,
            "seed": prompt.seed,
            self._options.max_tokens_name: prompt.max_tokens,
        }
        if prompt.schema is not None:
            shape = {"name": "answer", "strict": True, "schema": json.loads(prompt.schema)}
            request["response_format"] = {"type": "json_schema", "json_schema": shape}
        if prompt.alternatives:
            request |= {"logprobs": True, "top_logprobs": min(prompt.alternatives, _MOST_ALTERNATIVES)}
        return request

    def _failure(self, error: Any) -> str | EngineDead | ModelGone:
        """What an error means: why a prompt failed, or what stands in the way of all."""
        library = _client_library()
        if isinstance(error, library.APIStatusError):
            return self._refusal(error)
        if _never_connected(error):
            return EngineDead(self._unreached())
        if isinstance(error, library.APITimeoutError):
            return f"no answer within {self._options.timeout_s:g} s, {self._retries + 1} times"
        if isinstance(error, library.APIConnectionError):
            return f"the server broke off the connection, {self._retries + 1} times"
        return f"{type(error).__name__}: {error}"

    def _refusal(self, error: Any) -> str | EngineDead | ModelGone:
        """What a status means that is not 200."""
        status = error.status_code
        said = self._quoted(f"{status}: {error.message}")
        if status in _MENDS:
            mend = _MENDS[status].format(key=self._options.key_variable, model=self._options.model)
            return ModelGone(f"{self._place()} answered {said}; {mend}")
        if error.code == "insufficient_quota":
            return ModelGone(f"{self._place()} answered {said}; the quota is used up: raise it, or wait")
        return EngineDead(f"{self._place()} stays too busy: {said}") if status in _BUSY else said

    def _unreached(self) -> str:
        return f"{self._place()} cannot be reached: look at `url`, and whether the server runs"

    def _place(self) -> str:
        return without_password(self._options.url or "")

    def _quoted(self, text: str) -> str:
        """A server's words, short; some servers quote the key they were given."""
        key = self._key()
        return " ".join((text.replace(key, "(key)") if key else text).split())[:_REASON]

    def _key(self) -> str:
        return os.environ.get(self._options.key_variable, "").strip()


def _client_library() -> Any:
    try:
        import openai  # noqa: PLC0415 - an extra, and a second
    except ImportError as error:
        raise ImportError("engine endpoint needs the package openai: pip install 'slatemill[endpoint]'") from error
    return openai


def _never_connected(error: Exception) -> bool:
    """Whether no connection came about, unlike one that broke or stayed silent."""
    import httpx2  # noqa: PLC0415 - comes with openai

    return isinstance(error.__cause__, (httpx2.ConnectError, httpx2.ConnectTimeout))

"""What a server that speaks OpenAI's protocol says, taken for an answer."""

from __future__ import annotations

from typing import Any

from models.interfaces import Answer
from models.llm.thoughts import without_thoughts


def read_reply(reply: Any, alternatives: int) -> Answer:
    """The answer in a chat completion, with `alternatives` where any were asked for.

    A refusal is an answer, with reason `refusal`. Some servers say 200 and have no answer in the body: that is failed.
    What a model thinks, in a field of its own or in `<think>...</think>`, is no part of the answer.
    """
    choices = getattr(reply, "choices", None)
    if not choices or choices[0].message is None:
        said = getattr(reply, "error", None) or "no choices"
        return Answer("", "failed", f"the server answered without an answer: {said}")
    choice, counted = choices[0], _counted(reply.usage)
    if choice.finish_reason == "content_filter":
        return counted._replace(status="failed", reason="the server's filter of content cut the answer off")
    counted = counted._replace(finish="length" if choice.finish_reason == "length" else "stop")
    if refusal := getattr(choice.message, "refusal", None):
        return counted._replace(text=refusal, reason="refusal")
    content = choice.message.content or ""
    text = without_thoughts(content)
    likeliest = _likeliest(choice, len(content) - len(text)) if alternatives else None
    return counted._replace(text=text, alternatives=likeliest)


def _counted(usage: Any) -> Answer:
    """An answer without text, with what a server counted; some count nothing."""
    details = getattr(usage, "prompt_tokens_details", None)
    return Answer(
        "",
        prompt_tokens=getattr(usage, "prompt_tokens", None) or 0,
        cached_tokens=getattr(details, "cached_tokens", None) or 0,
        completion_tokens=getattr(usage, "completion_tokens", None) or 0,
    )


def _likeliest(choice: Any, thought: int) -> tuple[tuple[tuple[str, float], ...], ...] | None:
    """The likeliest tokens at each place of an answer that comes after so many characters of thoughts."""
    places = getattr(choice.logprobs, "content", None)
    if places is None:
        return None
    read = 0
    kept = []
    for place in places:
        if read >= thought:
            options = ((option.token, option.logprob) for option in place.top_logprobs)
            kept.append(tuple(sorted(options, key=lambda option: -option[1])))
        read += len(place.token)
    return tuple(kept)

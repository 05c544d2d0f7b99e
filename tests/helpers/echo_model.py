"""A language model that needs none: it answers by a rule of the test, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from models.interfaces import NO_TOKENS, Answer, Prompt


class EchoModel:
    """What the rule gives is the answer; None is a failure. Tokens are words."""

    name = "echo"
    context = 1000
    spent = NO_TOKENS

    def __init__(self, rule: Callable[[Prompt], str | None]) -> None:
        self.calls: list[list[Prompt]] = []
        self._rule = rule

    def count(self, prompts: Sequence[Prompt]) -> list[int]:
        return [len(f"{prompt.system} {prompt.user}".split()) for prompt in prompts]

    def answer(self, prompts: Sequence[Prompt]) -> list[Answer]:
        assert prompts, "a model is not called for nothing"
        self.calls.append(list(prompts))
        return [self._one(prompt, tokens) for prompt, tokens in zip(prompts, self.count(prompts), strict=True)]

    def _one(self, prompt: Prompt, tokens: int) -> Answer:
        said = self._rule(prompt)
        if said is None:
            return Answer("", "failed", "it is too long", prompt_tokens=tokens)
        return Answer(said, finish="stop", prompt_tokens=tokens, completion_tokens=len(said.split()))

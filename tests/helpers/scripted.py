"""A language model whose answers a test writes: to force those that a real one gives too seldom."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from models.interfaces import NO_TOKENS, Answer, Prompt, Spent


class ScriptedModel:
    """Answers each prompt as `script` says; a token is four characters."""

    name = "scripted"

    def __init__(self, script: Callable[[Prompt], str | Answer], context: int = 4096) -> None:
        self.context = context
        self.spent = NO_TOKENS
        self.asked: list[list[Prompt]] = []
        self._script = script

    def count(self, prompts: Sequence[Prompt]) -> list[int]:
        return [(len(prompt.system) + len(prompt.user)) // 4 + 1 for prompt in prompts]

    def answer(self, prompts: Sequence[Prompt]) -> list[Answer]:
        self.asked.append(list(prompts))
        return [self._answered(prompt) for prompt in prompts]

    def _answered(self, prompt: Prompt) -> Answer:
        given = self._script(prompt)
        (n_tokens,) = self.count([prompt])
        made = Answer(given, finish="stop", completion_tokens=len(given) // 4) if isinstance(given, str) else given
        made = made._replace(prompt_tokens=n_tokens)
        self.spent = self.spent.plus(Spent(1, n_tokens, 0, made.completion_tokens))
        return made

"""One answer for each prompt, whatever some of them do to the engine."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

from models.interfaces import NO_TOKENS, Answer, Prompt, Spent
from models.llm.engine import Engine, EngineDead, ModelGone

RESTARTS = 3
"""How often a model's engine is made anew, all in all."""
_REASON = 200
_UNREADABLE = re.compile(r"[\ud800-\udfff\x00]")
"""Lone surrogates and NUL: tokenizers raise, and take the batch with them."""
_LONGEST_TOKEN = 128
"""Characters: a text of more than this times the context is too long whatever its tokens are, and is not counted."""


class CarefulModel:
    """A LanguageModel over an engine.

    Every prompt is cleaned and counted before the engine sees it; one that is empty or too long is answered with a
    reason. When the engine raises, the batch is halved until the culprit is alone; alone it is tried `attempts` times.
    A dead engine is made anew and gets the batch again: where it dies of one prompt alone each time, that is a culprit
    too. Raises ModelGone once the engine has been made anew RESTARTS times.
    """

    def __init__(self, engine: Engine, attempts: int) -> None:
        self.name = engine.name
        self.context = engine.context
        self.spent = NO_TOKENS
        self._engine = engine
        self._attempts = attempts
        self._restarts = 0

    def count(self, prompts: Sequence[Prompt]) -> list[int]:
        """Tokens of each prompt; more than the context for one that cannot be read."""
        return self._counts([_cleaned(prompt) for prompt in prompts])

    def answer(self, prompts: Sequence[Prompt]) -> list[Answer]:
        """One answer for each prompt, in order."""
        cleaned = [_cleaned(prompt) for prompt in prompts]
        answers: list[Answer | None] = [None] * len(prompts)
        for row, n_tokens in enumerate(self._counts(cleaned)):
            if reason := self._refused(cleaned[row], n_tokens):
                answers[row] = Answer("", "failed", reason, attempts=0)
        self._answer(cleaned, [row for row, answer in enumerate(answers) if answer is None], answers, {})
        return [answer for answer in answers if answer is not None]

    def _refused(self, prompt: Prompt, n_tokens: int) -> str:
        room = self.context - prompt.max_tokens
        if not prompt.user.strip():
            return "empty: there is nothing to answer"
        if n_tokens > room:
            counted = f"{n_tokens:,} tokens" if n_tokens < _UNCOUNTED else f"{len(prompt.user):,} characters"
            return f"too long: {counted}, and the model takes {room:,} tokens beside an answer of {prompt.max_tokens:,}"
        return ""

    def _counts(self, prompts: Sequence[Prompt]) -> list[int]:
        longest = self.context * _LONGEST_TOKEN
        counted = [len(prompt.user) + len(prompt.system) <= longest for prompt in prompts]
        short = [prompt for prompt, is_short in zip(prompts, counted, strict=True) if is_short]
        counts = iter(self._counted(short))
        return [next(counts) if is_short else _UNCOUNTED for is_short in counted]

    def _counted(self, prompts: Sequence[Prompt]) -> list[int]:
        """Counts by halves, where one of them cannot be read."""
        try:
            return self._engine.count(prompts) if prompts else []
        except Exception:  # whatever a tokenizer raises
            if len(prompts) == 1:
                return [_UNCOUNTED]
            half = len(prompts) // 2
            return self._counted(prompts[:half]) + self._counted(prompts[half:])

    def _answer(
        self, prompts: Sequence[Prompt], rows: list[int], answers: list[Answer | None], failed: dict[int, int]
    ) -> None:
        """Answers some of the prompts; `failed` counts how often the engine failed on one alone."""
        todo = [rows]
        while todo:
            part = todo.pop()
            if not part:
                continue
            try:
                made = self._run([prompts[row] for row in part])
            except Exception as error:  # whatever an engine raises
                if isinstance(error, EngineDead):
                    self._restart(error)
                if len(part) > 1:
                    half = len(part) // 2
                    todo += [part[half:], part[:half]]
                    continue
                (row,) = part
                failed[row] = failed.get(row, 0) + 1
                if failed[row] < self._attempts:
                    todo.append(part)
                else:
                    answers[row] = Answer("", "failed", _short(error), attempts=failed[row])
                continue
            for row, answer in zip(part, made, strict=True):
                answers[row] = answer._replace(attempts=failed.get(row, 0) + 1)

    def _run(self, prompts: Sequence[Prompt]) -> list[Answer]:
        started = time.monotonic()
        try:
            made = self._engine.run(prompts)
        except Exception:
            self.spent = self.spent.plus(Spent(calls=len(prompts), model_seconds=time.monotonic() - started))
            raise
        self.spent = self.spent.plus(
            Spent(
                len(prompts),
                sum(answer.prompt_tokens for answer in made),
                sum(answer.cached_tokens for answer in made),
                sum(answer.completion_tokens for answer in made),
                time.monotonic() - started,
            )
        )
        return made

    def _restart(self, error: EngineDead) -> None:
        if self._restarts == RESTARTS:
            raise ModelGone(f"the engine of {self.name} died {RESTARTS + 1} times: {_short(error)}") from error
        self._restarts += 1
        self._engine.restart()


_UNCOUNTED = 1 << 40


def _cleaned(prompt: Prompt) -> Prompt:
    if _UNREADABLE.search(prompt.system) or _UNREADABLE.search(prompt.user):
        cleaned = (_UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", text) for text in (prompt.system, prompt.user))
        system, user = cleaned
        return prompt._replace(system=system, user=user)
    return prompt


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:_REASON]}"

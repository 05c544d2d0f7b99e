"""Prompts that are asked again, with another seed, until the answer can be used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from models.interfaces import Answer, LanguageModel, Prompt

T = TypeVar("T")

ROUNDS = 3
"""How often a prompt is asked before it is given up."""
RETRY_TEMPERATURE = 0.7
"""A model that decodes greedily would say the same again."""


class Complaint(NamedTuple):
    """Why an answer cannot be used."""

    reason: str


class Outcome(NamedTuple, Generic[T]):
    """What came of a prompt: what its last answer was taken for, or why it cannot be used, and the cost of all of its
    rounds."""

    taken: T | Complaint
    attempts: int
    prompt_tokens: int
    completion_tokens: int

    @property
    def reason(self) -> str:
        """Why there is nothing to use; empty where there is."""
        return self.taken.reason if isinstance(self.taken, Complaint) else ""


def ask(
    model: LanguageModel, prompts: Sequence[Prompt], take: Callable[[int, Answer], T | Complaint]
) -> list[Outcome[T]]:
    """Asks all prompts in one batch, and those whose answers cannot be used again, at most ROUNDS times in all.

    `take` is given the place of a prompt and an answer that came. What the engine could not answer is not asked again:
    the model has tried.
    """
    answers: list[list[Answer]] = [[] for _ in prompts]
    taken: list[T | Complaint] = [Complaint("not asked")] * len(prompts)
    left = list(range(len(prompts)))
    for number in range(ROUNDS):
        if not left:
            break
        asked = [_again(prompts[row], number) for row in left]
        for row, answer in zip(left, model.answer(asked), strict=True):
            answers[row].append(answer)
            taken[row] = Complaint(answer.reason) if answer.status == "failed" else take(row, answer)
        left = [row for row in left if isinstance(taken[row], Complaint) and answers[row][-1].status == "ok"]
    return [
        Outcome(
            found,
            sum(answer.attempts for answer in given),
            sum(answer.prompt_tokens for answer in given),
            sum(answer.completion_tokens for answer in given),
        )
        for found, given in zip(taken, answers, strict=True)
    ]


def _again(prompt: Prompt, number: int) -> Prompt:
    if not number:
        return prompt
    return prompt._replace(temperature=max(prompt.temperature, RETRY_TEMPERATURE), seed=prompt.seed + 1000 * number)

"""A language model for tests of what a teacher does: it counts words, and answers what it is told to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from models.interfaces import NO_TOKENS, Answer, Prompt, Spent

Says = Callable[[str, str, Prompt], Answer]
"""What is answered to the text of a request and of a turn."""

_FENCED = re.compile(r"<request>\n(.*)\n</request>.*<turn>\n(.*)\n</turn>", re.DOTALL)


def shared_words(request: str, turn: str, _: Prompt) -> Answer:
    """The number of words that both have, at most 9."""
    return Answer(str(min(9, len(set(request.split()) & set(turn.split())))), prompt_tokens=7)


class Rater:
    """Remembers the calls that it was given."""

    name = "rater"

    def __init__(self, says: Says = shared_words, context: int = 4_096) -> None:
        self.says = says
        self.context = context
        self.calls: list[list[Prompt]] = []
        self.spent = NO_TOKENS

    def count(self, prompts: Sequence[Prompt]) -> list[int]:
        return [len(prompt.system.split()) + len(prompt.user.split()) for prompt in prompts]

    def answer(self, prompts: Sequence[Prompt]) -> list[Answer]:
        self.calls.append(list(prompts))
        answers = [self.says(*read(prompt), prompt) for prompt in prompts]
        self.spent = self.spent.plus(Spent(len(prompts), sum(answer.prompt_tokens for answer in answers)))
        return answers


def read(prompt: Prompt) -> tuple[str, str]:
    """The texts of request and turn in a prompt."""
    found = _FENCED.search(prompt.user)
    assert found is not None, prompt.user
    return found[1], found[2]

"""One answer for each prompt, whatever some of them do to the engine."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

from models.interfaces import NO_TOKENS, Answer, Prompt, Spent
from models.llm.engine import Engine, EngineDead, ModelGone
from models.llm.halving import by_halves

_UNSAFE = re.compile("[\x00\ud800-\udfff]")
_REASON = 200
"""Characters of an error that a reason quotes."""
_LONE_DEATHS = 2
"""A prompt of which alone the engine dies so often is a culprit: making the engine anew costs minutes."""
_IN_ALL = 10
"""A model's engine is made anew so many times `restarts`, in all."""


class CarefulModel:
    """A LanguageModel over an engine.

    A prompt is cleaned and counted before the engine sees it; one that is empty or too long is answered with a reason.
    When the engine raises, the batch is halved until the culprits are alone; each is tried `attempts` times, and fails
    with what the engine said. A dead engine is made anew before it is needed, and gets the halves again; a prompt of
    which it dies alone, twice, is a culprit too. Raises ModelGone, as the engine does, and where the engine was made
    anew `restarts` times in a row without an answer coming of it, or ten times as often in all.

    One prompt that kills the engine is found within two restarts in a row; several in a batch may take more.
    """

    def __init__(self, engine: Engine, attempts: int = 3, restarts: int = 2) -> None:
        self.name = engine.name
        self.context = engine.context
        self._engine = engine
        self._attempts = attempts
        self._restarts = restarts
        self._in_vain = 0
        self._in_all = 0
        self._death: Exception | None = None
        self._spent = NO_TOKENS

    @property
    def spent(self) -> Spent:
        """What the engine was asked since the model was made, failed attempts included."""
        return self._spent

    def count(self, prompts: Sequence[Prompt]) -> list[int]:
        """Tokens of each prompt; one more than the context for one that cannot be read."""
        counted = by_halves(self._count, [_cleaned(prompt) for prompt in prompts], self._tries)
        return [self.context + 1 if outcome.made is None else outcome.made for outcome in counted]

    def answer(self, prompts: Sequence[Prompt]) -> list[Answer]:
        """One answer for each prompt, in order."""
        cleaned = [_cleaned(prompt) for prompt in prompts]
        refused = dict(self._refused(cleaned))
        rows = [row for row in range(len(prompts)) if row not in refused]
        outcomes = by_halves(self._run, [cleaned[row] for row in rows], self._tries)
        answers = {row: _failed(reason, 0) for row, reason in refused.items()}
        for row, (made, error, calls) in zip(rows, outcomes, strict=True):
            if made is None:
                assert error is not None
                answers[row] = _failed(_reason(error), calls)
            else:
                answers[row] = made._replace(attempts=calls)
        return [answers[row] for row in range(len(prompts))]

    def _refused(self, prompts: Sequence[Prompt]) -> list[tuple[int, str]]:
        """The prompts that the engine is not to see, and why."""
        refused = [(row, "empty") for row, prompt in enumerate(prompts) if not prompt.user.strip()]
        empty = {row for row, _ in refused}
        rows = [row for row in range(len(prompts)) if row not in empty]
        for row, outcome in zip(rows, by_halves(self._count, [prompts[row] for row in rows], self._tries), strict=True):
            room = prompts[row].max_tokens
            if outcome.error is not None:
                refused.append((row, _reason(outcome.error)))
            elif outcome.made is not None and outcome.made + room > self.context:
                taken = f"the model takes {self.context:,} less {room:,} for the answer"
                refused.append((row, f"{outcome.made:,} tokens, and {taken}"))
        return refused

    def _tries(self, error: Exception) -> int:
        return min(self._attempts, _LONE_DEATHS) if isinstance(error, EngineDead) else self._attempts

    def _count(self, prompts: list[Prompt]) -> list[int]:
        self._revive()
        try:
            return self._engine.count(prompts)
        except EngineDead as error:
            self._death = error
            raise

    def _run(self, prompts: list[Prompt]) -> list[Answer]:
        self._revive()
        started = time.monotonic()
        made: list[Answer] = []
        try:
            made = self._engine.run(prompts)
        except EngineDead as error:
            self._death = error
            raise
        finally:
            asked = Spent(
                len(prompts),
                sum(answer.prompt_tokens for answer in made),
                sum(answer.cached_tokens for answer in made),
                sum(answer.completion_tokens for answer in made),
                time.monotonic() - started,
            )
            self._spent = self._spent.plus(asked)
        self._in_vain = 0
        return made

    def _revive(self) -> None:
        """Makes the engine anew if it is dead."""
        while self._death is not None:
            if self._in_vain == self._restarts or self._in_all == _IN_ALL * self._restarts:
                times = f"{self._in_vain} times in a row, {self._in_all} times in all"
                raise ModelGone(
                    f"the engine of {self.name} is dead; it was made anew {times}. It said: {_short(self._death)}"
                ) from self._death
            self._in_vain += 1
            self._in_all += 1
            try:
                self._engine.restart()
            except ModelGone:
                raise
            except Exception as error:  # a machine may need a moment to free what the dead engine held
                self._death = error
            else:
                self._death = None


def _cleaned(prompt: Prompt) -> Prompt:
    """A prompt that every tokenizer takes: without NUL, and U+FFFD for lone surrogates."""
    return prompt._replace(system=_sanitised(prompt.system), user=_sanitised(prompt.user))


def _sanitised(text: str) -> str:
    if _UNSAFE.search(text) is None:
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\x00", "")


def _failed(reason: str, attempts: int) -> Answer:
    return Answer("", "failed", reason, attempts=attempts)


def _reason(error: Exception) -> str:
    return f"kills the engine: {_short(error)}" if isinstance(error, EngineDead) else _short(error)


def _short(error: Exception) -> str:
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return _sanitised(text if len(text) <= _REASON else text[: _REASON - 1] + "…")

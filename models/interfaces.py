"""What pipeline/ may know of a model: the interfaces, and nothing that loads one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt


class TokenCounter(Protocol):
    """Counts tokens of text."""

    name: str

    def count(self, text: str) -> int:
        """Tokens of one text; special-token text counts as ordinary text."""
        ...

    def count_many(self, texts: Sequence[str]) -> npt.NDArray[np.int32]:
        """Tokens of each text, shape (len(texts),)."""
        ...


class Embedder(Protocol):
    """Turns text into vectors of unit length."""

    name: str
    dim: int

    def embed_windows(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Vectors of texts that may be longer than the model's window.

        Returns (rows, vectors): rows[k] is the index of the text that vectors[k] belongs to, ascending; the windows of
        one text follow each other. vectors has shape (len(rows), dim). A text's vectors depend on that text alone.
        A vector that is not finite is left as it came: the caller decides.
        """
        ...


class Calibration(Protocol):
    """Turns scores into probabilities."""

    def probability(self, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Probability that a candidate of each score is evidence, shape as `scores`; it keeps their order."""
        ...


class ModeChoice(Protocol):
    """Tells which recovery mode serves a request better."""

    @property
    def signals(self) -> tuple[str, ...]:
        """What it goes by, in order."""
        ...

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes of the requests that it knows."""
        ...

    def gain(self, values: Sequence[float]) -> float:
        """What units are expected to gain over pieces, from the values of its signals."""
        ...


class Ranker(Protocol):
    """Scores candidates from their features."""

    @property
    def identity(self) -> str:
        """Digest of all that decides the scores."""
        ...

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features it takes, in order."""
        ...

    @property
    def calibration(self) -> Calibration | None:
        """What its scores say of the probability that a candidate is evidence; None where that is not known."""
        ...

    @property
    def mode_choice(self) -> ModeChoice | None:
        """Which recovery mode serves a request better in its order; None where that was not learned."""
        ...

    def score(self, features: npt.NDArray[np.float32], names: Sequence[str]) -> npt.NDArray[np.float64]:
        """Scores, shape (n,), of features of shape (n, len(names)); NaN is missing.

        Raises ValueError when names are not the ranker's own, in order.
        """
        ...


class ExplainedRanker(Ranker, Protocol):
    """A ranker that says what each feature adds to a score."""

    def contributions(self, features: npt.NDArray[np.float32], names: Sequence[str]) -> npt.NDArray[np.float64]:
        """Shape (n, len(names) + 1), the last column the base, equal in all rows; a row adds up to its score.

        Raises as `score`.
        """
        ...


class PairScorer(Protocol):
    """Scores how well a turn answers a request, reading both together."""

    name: str

    def score(
        self, requests: Sequence[str], turns: Sequence[str], pairs: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float32]:
        """The score of each pair, shape (n,): any number, the higher the better.

        `pairs` has shape (n, 2): the index of a request's text, and of a turn's. The score of a pair depends on its two
        texts alone. One that is not finite is left so.
        """
        ...


class Prompt(NamedTuple):
    """What a language model is asked, and how it may answer."""

    system: str
    """Instructions: the same for all prompts of a kind, so that a cache of prefixes serves them."""
    user: str
    max_tokens: int
    """The most tokens of the answer."""
    schema: str | None = None
    """A JSON schema, as JSON: the answer is JSON of this shape. One that is cut short is not whole."""
    temperature: float = 0.0
    seed: int = 0
    alternatives: int = 0
    """For how many of the likeliest tokens at each place their log probabilities are asked for."""


class Answer(NamedTuple):
    """What came of a prompt. One that could not be answered has status `failed`, no text and a reason.

    `finish` is `stop` or `length` (cut at `max_tokens`), empty where nothing came. `attempts` counts how often the
    engine was handed the prompt. `alternatives` has for each token of the answer the likeliest ones with their log
    probabilities, likeliest first; None where the prompt did not ask or the engine does not say.
    """

    text: str
    status: Literal["ok", "failed"] = "ok"
    reason: str = ""
    finish: str = ""
    attempts: int = 1
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    alternatives: tuple[tuple[tuple[str, float], ...], ...] | None = None


class Spent(NamedTuple):
    """What a language model was asked in all. `calls` counts prompts, each time an engine is handed them;
    `cached_tokens` of the prompts' were in its cache of prefixes; `model_seconds` are those that it was at work."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    model_seconds: float = 0.0

    def plus(self, other: Spent) -> Spent:
        """Both together."""
        return Spent(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.cached_tokens + other.cached_tokens,
            self.completion_tokens + other.completion_tokens,
            self.model_seconds + other.model_seconds,
        )

    def since(self, before: Spent) -> Spent:
        """What came after `before`."""
        return self.plus(Spent(*(-each for each in before)))  # type: ignore[arg-type]


NO_TOKENS = Spent()


class LanguageModel(Protocol):
    """Answers prompts in batches. A prompt that cannot be answered costs no other its answer."""

    name: str
    context: int
    """The most tokens of a prompt and its answer together."""

    @property
    def spent(self) -> Spent:
        """What it was asked since it was made, failed attempts included."""
        ...

    def count(self, prompts: Sequence[Prompt]) -> list[int]:
        """Tokens of each prompt as the model reads it, template included; about, where the model is far away."""
        ...

    def answer(self, prompts: Sequence[Prompt]) -> list[Answer]:
        """One answer for each prompt, in order. Raises only where the model itself is gone for good."""
        ...


class TokenVectors(NamedTuple):
    """A vector of unit length for every token that counts, in order of text and place; arrays of equal length.

    `text` is the index of the text, ascending; `start` and `end` are its characters that the token covers; `vectors`
    has shape (tokens, dim). A text longer than the model's window repeats the tokens where two windows overlap.
    """

    text: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]


class TokenEncoder(Protocol):
    """Turns text into a vector for every token."""

    name: str
    dim: int

    def of_history(self, history_id: str) -> TokenEncoder:
        """The encoder that reads the turns and requests of a history: itself, unless it was tuned on some."""
        ...

    def encode(self, texts: Sequence[str], task: Literal["query", "document"]) -> TokenVectors:
        """Token vectors of each text, of requests (`query`) or of turns (`document`).

        A text's vectors depend on that text alone. A vector that is not finite is left as it came.
        """
        ...

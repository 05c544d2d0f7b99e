"""Chains: what a model writes unit by unit along a history, each time from what it wrote before.

Requests that have read the same share what was written by then. All histories advance in step: what is asked at one
place of all chains is one batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from models.interfaces import Answer, LanguageModel, Prompt
from pipeline.llm.rounds import Complaint, Outcome, ask
from pipeline.memory.call import Call
from pipeline.memory.llm_designs.prefixes import prefixes

S = TypeVar("S")
T = TypeVar("T")


class Chain(NamedTuple):
    """What is written for whom: `room` are the tokens that it may have; None where it goes by no budget."""

    history_id: str
    policy: str
    budget: int | None = None
    room: int | None = None


@dataclass(frozen=True)
class Step:
    """One unit (of the view of `call`, one of those that share it) after the ones before it."""

    chain: Chain
    call: Call
    unit: int
    place: int
    prefix: str
    before: str


class Question(NamedTuple):
    """A prompt (None: there is nothing to ask), and what is to be said of it."""

    prompt: Prompt | None
    remark: str = ""


class Writing(Protocol[S, T]):
    """How a design writes: S is all that it has written by a place, T what an answer says."""

    first: S

    def questions(self, steps: Sequence[Step], written: Sequence[S]) -> list[Question]:
        """What is asked at each step, from what was written before it."""
        ...

    def take(self, step: Step, written: S, answer: Answer, /) -> T | Complaint:
        """What an answer says."""
        ...

    def after(self, step: Step, written: S, said: T | None, /) -> tuple[S, dict[str, Any]]:
        """What is written then, and the columns of LLM_NOTES that tell it; None where nothing came."""
        ...


def steps(read: Iterable[tuple[Chain, Call, Sequence[int]]]) -> list[list[Step]]:
    """The steps of chains over the units of calls, by place; those that calls share are there once."""
    levels: list[dict[tuple[Chain, str], Step]] = []
    for chain, call, units in read:
        before = ""
        for place, (unit, prefix) in enumerate(zip(units, prefixes(call, units), strict=True)):
            if place == len(levels):
                levels.append({})
            levels[place].setdefault((chain, prefix), Step(chain, call, unit, place + 1, prefix, before))
            before = prefix
    return [list(level.values()) for level in levels]


def written(levels: Sequence[Sequence[Step]], model: LanguageModel, writing: Writing[S, T]) -> list[dict[str, Any]]:
    """Rows of LLM_NOTES, less n_tokens, of all steps. A step that fails leaves all as it was, and the chain goes on."""
    rows: list[dict[str, Any]] = []
    by_now: dict[tuple[Chain, str], S] = {}
    for level in levels:
        before = [by_now.get((step.chain, step.before), writing.first) for step in level]
        by_now = {}
        questions = writing.questions(level, before)
        outcomes = _asked(level, before, questions, model, writing)
        for row, (step, state, question) in enumerate(zip(level, before, questions, strict=True)):
            outcome = outcomes.get(row)
            said = None if outcome is None or isinstance(outcome.taken, Complaint) else outcome.taken
            by_now[step.chain, step.prefix], told = writing.after(step, state, said)
            rows.append({**_key(step), "writer": model.name, **told, **_marks(question, outcome)})
    return rows


def _asked(
    level: Sequence[Step],
    before: Sequence[S],
    questions: Sequence[Question],
    model: LanguageModel,
    writing: Writing[S, T],
) -> dict[int, Outcome[T]]:
    """What came of the steps at which something is asked."""
    prompts = [(row, question.prompt) for row, question in enumerate(questions) if question.prompt is not None]
    rows = [row for row, _ in prompts]

    def take(number: int, answer: Answer) -> T | Complaint:
        return writing.take(level[rows[number]], before[rows[number]], answer)

    return dict(zip(rows, ask(model, [prompt for _, prompt in prompts], take), strict=True))


def _key(step: Step) -> dict[str, Any]:
    view = step.call.view
    row, stored = int(view.row[step.unit]), view.notes.units
    return {
        **step.chain._asdict(),
        "prefix": step.prefix,
        "place": step.place,
        "session_index": int(stored.session_index[row]),
        "unit_index": int(stored.unit_index[row]),
    }


def _marks(question: Question, outcome: Outcome[Any] | None) -> dict[str, Any]:
    """What a step cost, and what is to be said of it."""
    reason = "" if outcome is None else outcome.reason
    return {
        "status": "failed" if reason else "ok",
        "reason": "; ".join(filter(None, (question.remark, reason))),
        "attempts": 0 if outcome is None else outcome.attempts,
        "prompt_tokens": 0 if outcome is None else outcome.prompt_tokens,
        "completion_tokens": 0 if outcome is None else outcome.completion_tokens,
    }

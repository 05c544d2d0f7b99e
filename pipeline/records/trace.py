"""The record's text of an agent's steps: a trace, in which every step shows something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from pipeline.records.actions import Step, observed, step
from pipeline.records.details import terms
from pipeline.records.lengths import clipped, length, one_line, shares, shortened
from pipeline.records.record import RECORD_WORDS, UnitTurn
from pipeline.records.sentences import sentences
from pipeline.records.telling import compact

ARROW = "→"
_LEAST = 3
"""Words: where steps would have less each, some are told together or left out."""
_MOST_ACTION, _MOST_OUTCOME = 16, 18
_THOUGHT = 14
_PROMPT = 4_000
"""Characters: what is asked stands first."""
_SYSTEM = 10
_TASK = 30
_TASK_SENTENCES = 6
_LEAST_WORTH = 0.9
"""A greeting before the task is worth less."""


@dataclass(frozen=True, slots=True)
class Clause:
    """What stands for a step in the trace; without an action or an outcome the other stands alone."""

    action: str
    outcome: str = ""
    times: int = 1

    def text(self, words: int) -> str:
        """The clause in at most `words`: both parts of it where there is room for both."""
        many = f" x{self.times}" if self.times > 1 else ""
        if not self.action or not self.outcome or words < _LEAST:
            return clipped(self.action or self.outcome, max(1, words - bool(many))) + many
        for_action, for_outcome = shares((length(self.action), length(self.outcome)), words - 1 - bool(many))
        outcome = clipped(self.outcome, for_outcome)
        return f"{shortened(self.action, for_action)}{many} {ARROW} {outcome}"

    def need(self) -> int:
        """The words that it takes whole."""
        both = length(self.action) + length(self.outcome) + bool(self.action and self.outcome)
        return both + (self.times > 1)


def trace(turns: Sequence[UnitTurn], words: int = RECORD_WORDS) -> str:
    """One line of at most `words`: a clause of each step, in order, like ones folded (`ls → 3 lines: a.py x2`)."""
    parsed = [(turn, parsed_turn(turn)) for turn in turns]
    clauses = folded([clause for turn, parts in parsed for clause in _clauses(turn, parts)])
    if len(clauses) * _LEAST > words:
        clauses = _fewer(clauses, words // _LEAST)
    needs = [clause.need() for clause in clauses]
    told = [clause.text(share) for clause, share in zip(clauses, shares(needs, words), strict=True)]
    line = "; ".join(told)
    left = words - length(line)
    thoughts = [
        parts.thought for turn, parts in parsed[-2:] if parts.done and turn.role == "assistant" and parts.thought
    ]
    if left > _THOUGHT // 2 and thoughts:
        line = f"{line}. Thought: {clipped(best_sentence(thoughts[-1]), min(left - 1, _THOUGHT))}"
    return clipped(line, words)


def parsed_turn(turn: UnitTurn) -> Step:
    """The turn as a step; what a tool says, or many lines that no action stands before, are an outcome."""
    if turn.role in ("system", "user"):
        return Step(turn.text, ())
    found = step(turn.text)
    if not found.done and (turn.role == "tool" or _is_output(found.thought)):
        return Step("", (observed(found.thought),))
    return found


def folded(clauses: Sequence[Clause]) -> list[Clause]:
    """Clauses of the same action that follow each other as one, with the outcome of the last."""
    found: list[Clause] = []
    for _, run in groupby(clauses, key=lambda clause: clause.action or clause.outcome):
        same = list(run)
        found.append(Clause(same[-1].action, same[-1].outcome, sum(clause.times for clause in same)))
    return found


def best_sentence(text: str) -> str:
    """The sentence of a text that holds most for its words."""
    found = _held(text)
    worth = [sum(held.values()) / (len(said.split()) + 6) for said, held in found]
    return _compact(*found[worth.index(max(worth))]) if found else ""


def _clauses(turn: UnitTurn, parts: Step) -> list[Clause]:
    if turn.role == "system":
        return _asked("System", clipped(best_sentence(turn.text[:_PROMPT]), _SYSTEM))
    if turn.role == "user":
        return _asked("Task", clipped(_task(turn.text[:_PROMPT]), _TASK))
    if not parts.done:
        return [Clause(one_line(clipped(best_sentence(parts.thought), _THOUGHT)))] if parts.thought else []
    return [
        Clause(shortened(one_line(done.action), _MOST_ACTION), clipped(one_line(done.outcome), _MOST_OUTCOME))
        for done in parts.done
        if done.action or done.outcome
    ]


def _asked(by: str, text: str) -> list[Clause]:
    return [Clause(f"{by}: {text}")] if text else []


def _task(text: str) -> str:
    """The two best of the first sentences of what was asked, in order."""
    found = _held(text)[:_TASK_SENTENCES]
    first = [weighed for weighed in found if sum(weighed[1].values()) >= _LEAST_WORTH] or found
    best = sorted(range(len(first)), key=lambda place: -sum(first[place][1].values()))[:2]
    return "; ".join(_compact(*first[place]) for place in sorted(best))


def _held(text: str) -> list[tuple[str, dict[str, float]]]:
    """The sentences of a text, and what each holds."""
    return [(sentence.text, terms(sentence.text.split())) for sentence in sentences(text)]


def _compact(sentence: str, held: dict[str, float]) -> str:
    return one_line(compact(sentence, held))


def _fewer(clauses: Sequence[Clause], most: int) -> list[Clause]:
    """At most so many: runs of one command told together; where that is not enough, evenly chosen ones are left out."""
    by_command: list[Clause] = []
    for command, run in groupby(clauses, key=lambda clause: (clause.action or clause.outcome).split(" ", 1)[0]):
        same = list(run)
        times = sum(clause.times for clause in same)
        by_command.append(Clause(command, same[-1].outcome, times) if len(same) > 1 else same[0])
    if len(by_command) <= most:
        return by_command
    return [by_command[place * len(by_command) // most] for place in range(most)]


def _is_output(text: str) -> bool:
    """Whether text that stands without an action reads like an output: lines, few of which end like sentences."""
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) > 4 and sum(line.rstrip().endswith((".", ":", "!", "?")) for line in lines) * 3 < len(lines)

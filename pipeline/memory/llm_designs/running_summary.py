"""A running summary beside notes: Summary + A-Mem of FlexA-Mem (arXiv 2610.33274, appendix C), whose summary is that of
OpenHands (Wang et al. 2025) and whose notes are found as A-Mem finds them.

Ours differs: the instructions are our own, and a summary is as long as the budget lets it be whatever is asked, so that
requests share it; at the request it is cut to its share, where the request's text has taken of that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from models.interfaces import Answer, LanguageModel, Prompt, TokenCounter
from pipeline.llm.loops import loops
from pipeline.llm.prompts import instructions
from pipeline.llm.room import InParts, fitted
from pipeline.llm.rounds import Complaint
from pipeline.llm.untrusted import fenced_apart
from pipeline.memory.call import USABLE, WINDOW, Call
from pipeline.memory.designs.filling import fitting_units
from pipeline.memory.designs.note_retrieval import found_notes
from pipeline.memory.draft import Block, Draft
from pipeline.memory.lines import Line
from pipeline.memory.llm_designs.chains import Chain, Question, Step
from pipeline.memory.llm_designs.names import SUMMARY_SHARES
from pipeline.memory.llm_designs.telling import unit_lines, when
from pipeline.text import sanitise_text

PROMPT = "running_summary"
_LEAST = 24
"""Tokens of a summary that says anything."""
_WORDS_OF_A_TOKEN = 0.7
_OF_CONTEXT = 3
"""What came before, the unit and the answer share a model's context: none of the summaries takes more than a third."""
_HEADING = "Summary: "
_NOTHING = "(nothing yet)"


def summary_chain(call: Call, policy: str) -> Chain | None:
    """The chain of a call: a share of what its budget leaves, for an agent beside a full window; None without room."""
    taken = (call.options.prompt_tokens or 0) + (int(WINDOW * call.budget) if call.is_agent else 0)
    room = int(SUMMARY_SHARES[policy] * max(int(USABLE * call.budget) - taken, 0))
    return Chain(call.view.notes.history_id, policy, call.budget, room) if room >= _LEAST else None


class RunningSummary:
    """Writes each summary from the one before it and the next unit."""

    first = ""

    def __init__(self, model: LanguageModel, counter: TokenCounter) -> None:
        self._model = model
        self._counter = counter

    def questions(self, steps: Sequence[Step], written: Sequence[str]) -> list[Question]:
        """The prompts; of a unit that is too long, with the lines from its beginning that fit."""
        lines = [unit_lines(step.call, step.unit) for step in steps]
        asked = [InParts(self._made(*each), len(each[2])) for each in zip(steps, written, lines, strict=True)]
        return [
            Question(found.prompt, self._remark(step, found.parts, len(of_unit)))
            for step, found, of_unit in zip(steps, fitted(self._model, asked), lines, strict=True)
        ]

    def take(self, step: Step, _written: str, answer: Answer) -> str | Complaint:
        """The summary in an answer, cut to its room."""
        text = " ".join(sanitise_text(answer.text).split())
        if not text:
            return Complaint("its summary is empty")
        if loops(text):
            return Complaint("its summary repeats itself")
        return cut_to(text, self._most(step), self._counter.count) or Complaint("its summary has no word that fits")

    def after(self, _step: Step, written: str, said: str | None) -> tuple[str, dict[str, Any]]:
        """The summary from now on."""
        text = written if said is None else said
        return text, {"text": text, "linked": []}

    def _made(self, step: Step, written: str, lines: Sequence[str]) -> Callable[[int], Prompt]:
        most = self._most(step)
        limit = f"Write at most {max(int(_WORDS_OF_A_TOKEN * most), 1)} words."
        dated = f"Date of the part: {day}\n\n" if (day := when(step.call, step.unit)) else ""

        def made(parts: int) -> Prompt:
            both = fenced_apart(summary=written or _NOTHING, part="\n".join(lines[:parts]))
            return Prompt(instructions(PROMPT).text, f"{limit}\n\n{dated}{both}", most)

        return made

    def _most(self, step: Step) -> int:
        assert step.chain.room is not None
        return max(min(step.chain.room, self._model.context // _OF_CONTEXT), 1)

    def _remark(self, step: Step, parts: int, of: int) -> str:
        most = self._most(step)
        shorter = f"of {step.chain.room} tokens no more than {most}, for the context" if most != step.chain.room else ""
        cut = f"too long: read to line {parts} of {of}" if parts < of else ""
        return "; ".join(filter(None, (shorter, cut)))


def summary_notes(call: Call, policy: str, summary: str) -> Draft:
    """The summary within its share of the allowance, and in what that leaves the notes that fit, by time below it."""
    share = int(SUMMARY_SHARES[policy] * call.allowance)
    told = cut_to(f"{_HEADING}{summary}", share - 1, call.counts.whole) if summary else ""  # less the break after it
    lines = (Line(told),) if len(told) > len(_HEADING) else ()
    order, scores = found_notes(call)
    notes = fitting_units(call, order, scores, call.allowance - call.counts.lines(lines))
    return Draft(recovered=notes, blocks=(Block(-1, lines, 0),) if lines else ())


def cut_to(text: str, room: int, count: Callable[[str], int]) -> str:
    """The first words of a text that take no more than `room` tokens."""
    if count(text) <= room:
        return text
    words = text.split(" ")
    fits, too_many = 0, len(words)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        fits, too_many = (middle, too_many) if count(" ".join(words[:middle])) <= room else (fits, middle)
    return " ".join(words[:fits])

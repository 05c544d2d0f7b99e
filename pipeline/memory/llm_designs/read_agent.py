"""ReadAgent (Lee et al. 2024, arXiv 2402.09727; FlexA-Mem, arXiv 2610.33274, appendix C): a gist of every unit, and a
language model that says before each answer which of them to look up.

Ours differs: gists are the profile's records, so that they cost what records cost; and within a budget pages come
first, and the oldest gists make room for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from models.interfaces import Answer, LanguageModel, Prompt
from pipeline.llm.prompts import instructions
from pipeline.llm.room import InParts, fitted
from pipeline.llm.rounds import Complaint
from pipeline.llm.untrusted import fenced_apart
from pipeline.memory.call import Call
from pipeline.memory.draft import Draft, Recovered
from pipeline.memory.lines import Line
from pipeline.memory.llm_designs.numbers import number_schema, numbers_in
from pipeline.memory.llm_designs.telling import gist, headed
from pipeline.memory.timeline import Entry

PROMPT = "read_agent"
PAGES = 6
"""Pages that may be looked up for a request, at most: those of the paper."""
_TOKENS = 100
_SCHEMA = number_schema("pages", PAGES)


class Offer(NamedTuple):
    """The gists that a model is shown, of the newest units (of `of` in all), and the prompt that shows them."""

    prompt: Prompt
    units: tuple[int, ...]
    of: int

    @property
    def left_out(self) -> int:
        """The units whose gists have no room."""
        return self.of - len(self.units)


def offers(calls: Sequence[Call], model: LanguageModel) -> list[Offer]:
    """The question of each call: the newest gists within its allowance, as many as the model's context holds."""
    lines = [_lines(call) for call in calls]
    asked = [InParts(_made(call, of_call), len(of_call)) for call, of_call in zip(calls, lines, strict=True)]
    return [
        Offer(found.prompt, call.past[len(call.past) - found.parts :], len(call.past))
        for call, found in zip(calls, fitted(model, asked), strict=True)
    ]


def pages(offer: Offer, answer: Answer) -> tuple[int, ...] | Complaint:
    """The units that an answer wants, most wanted first; none where it wants none."""
    if not offer.units:
        return Complaint("not one gist has room")
    numbers = numbers_in(answer, "pages", [unit + 1 for unit in offer.units], PAGES)
    return numbers if isinstance(numbers, Complaint) else tuple(number - 1 for number in numbers)


def read_agent(call: Call, wanted: Sequence[int]) -> Draft:
    """Gists in order of time, and in their places the wanted units as they were, the first of them that fit; then the
    newest gists that fit."""
    room = call.allowance
    recovered = []
    for rank, unit in enumerate(wanted, start=1):
        if call.raw_tokens(unit) <= room:
            room -= call.raw_tokens(unit)
            recovered.append(Recovered(unit, rank))
    shown = {each.unit for each in recovered}
    entries = []
    for unit in reversed(call.recorded):
        tokens = call.record_tokens(unit)
        if unit not in shown and tokens > room:
            break
        room -= 0 if unit in shown else tokens
        entries.append(Entry((unit,), tokens))
    return Draft(tuple(reversed(entries)), tuple(recovered))


def _lines(call: Call) -> list[str]:
    """Numbered gists of past units, the newest that fit into the allowance, by time."""
    room = call.allowance
    lines: list[str] = []
    for unit in reversed(call.past):
        line = f"[{unit + 1}] {headed(call, unit)}{gist(call, unit)}"
        room -= call.counts.lines([Line(line)])
        if room < 0:
            break
        lines.append(line)
    return lines[::-1]


def _made(call: Call, lines: Sequence[str]) -> Callable[[int], Prompt]:
    def made(parts: int) -> Prompt:
        left_out = len(call.past) - parts
        remark = f"The {left_out} oldest pages are left out.\n\n" if left_out else ""
        both = fenced_apart(request=call.asked.text, pages="\n".join(lines[len(lines) - parts :]))
        return Prompt(instructions(PROMPT).text, f"{remark}{both}", _TOKENS, _SCHEMA)

    return made

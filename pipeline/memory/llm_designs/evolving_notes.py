"""Notes that evolve, after A-Mem (Xu et al. 2025, arXiv 2502.12110): a language model chooses which earlier notes a new
one is linked to, and rewrites what these are found by.

Ours differs: notes are the profile's records, and what is compared by embedding is the record as it was written, not as
it evolved; the instructions are our own, and one call does what A-Mem asks of two.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from models.interfaces import Answer, LanguageModel, Prompt
from pipeline.llm.json_text import read_json
from pipeline.llm.loops import loops
from pipeline.llm.prompts import instructions
from pipeline.llm.room import InParts, fitted
from pipeline.llm.rounds import Complaint
from pipeline.llm.untrusted import fenced_apart
from pipeline.memory.call import Call
from pipeline.memory.llm_designs.chains import Question, Step
from pipeline.memory.llm_designs.numbers import is_one_of
from pipeline.memory.llm_designs.telling import headed
from pipeline.memory.llm_designs.words import Words
from pipeline.memory.notes import Units

PROMPT = "evolve_notes"
NEIGHBOURS = 5
"""Earlier notes that a new one is shown (k in FlexA-Mem's setting of A-Mem)."""
_TOKENS = 600
_DECIMALS = 6
_TAGS, _TAG_WORDS, _DESCRIPTION_WORDS = 4, 6, 20

_LINKED = {
    "type": "object",
    "properties": {
        "note": {"type": "integer", "minimum": 1, "maximum": NEIGHBOURS},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 30}, "maxItems": _TAGS},
        "description": {"type": "string", "maxLength": 160},
    },
    "required": ["note", "tags", "description"],
    "additionalProperties": False,
}
_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"linked": {"type": "array", "items": _LINKED, "maxItems": NEIGHBOURS}},
        "required": ["linked"],
        "additionalProperties": False,
    }
)


class Linked(NamedTuple):
    """A note (row of a stored unit) that a new one is linked to, and what it is found by from then on."""

    row: int
    tags: tuple[str, ...]
    description: str


class ByNow(NamedTuple):
    """The notes of a chain: their rows in order, those that were rewritten, and the links of each, both ways."""

    rows: tuple[int, ...] = ()
    rewritten: Mapping[int, Linked] = {}
    links: Mapping[int, tuple[int, ...]] = {}

    def text(self, row: int, units: Units) -> str:
        """What a note is found by: its text, keywords, tags and description."""
        tags, description = self.about(row, units)
        return " ".join([units.record[row], *units.keywords[row], *tags, description])

    def about(self, row: int, units: Units) -> tuple[Sequence[str], str]:
        """Tags and description of a note."""
        new = self.rewritten.get(row)
        return (units.tags[row], units.description[row]) if new is None else (new.tags, new.description)

    def with_note(self, row: int, linked: Sequence[Linked]) -> ByNow:
        """The notes with one more, which is linked to these."""
        links = dict(self.links)
        for each in linked:
            links[each.row] = (*links.get(each.row, ()), row)
        links[row] = tuple(each.row for each in linked)
        return ByNow((*self.rows, row), {**self.rewritten, **{each.row: each for each in linked}}, links)


class EvolvingNotes:
    """Links each record to earlier ones, and rewrites what these are found by."""

    first = ByNow()

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._words = Words()
        self._shown: dict[tuple[Any, ...], tuple[int, ...]] = {}

    def questions(self, steps: Sequence[Step], written: Sequence[ByNow]) -> list[Question]:
        """A prompt for each step that has notes before it, with as many of the nearest as fit."""
        near = [nearest(step.call, step.unit, by_now, self._words) for step, by_now in zip(steps, written, strict=True)]
        rows = [row for row, found in enumerate(near) if found]
        asked = [InParts(_made(steps[row], written[row], near[row]), len(near[row])) for row in rows]
        questions = [Question(None)] * len(steps)
        for row, found in zip(rows, fitted(self._model, asked), strict=True):
            self._shown[steps[row].chain, steps[row].prefix] = near[row][: found.parts]
            left_out = len(near[row]) - found.parts
            questions[row] = Question(found.prompt, f"too long: {left_out} notes were left out" if left_out else "")
        return questions

    def take(self, step: Step, written: ByNow, answer: Answer) -> tuple[Linked, ...] | Complaint:
        """The notes that an answer links; numbers of others are passed over, and what is not told anew stays."""
        value = read_json(answer.text).value
        given = value.get("linked") if isinstance(value, dict) else None
        if not isinstance(given, list):
            return Complaint("its answer holds no list of links")
        shown = self._shown[step.chain, step.prefix]
        units = step.call.view.notes.units
        linked: dict[int, Linked] = {}
        for item in given:
            number = item.get("note") if isinstance(item, dict) else None
            if is_one_of(number, len(shown)) and shown[number - 1] not in linked:
                row = shown[number - 1]
                tags, description = written.about(row, units)
                new = _line(item.get("description"), _DESCRIPTION_WORDS)
                told = new if new and not loops(new) else description
                linked[row] = Linked(row, _tags(item.get("tags")) or tuple(tags), told)
        return tuple(linked.values())

    def after(self, step: Step, written: ByNow, said: tuple[Linked, ...] | None) -> tuple[ByNow, dict[str, Any]]:
        """The notes with the new one."""
        linked = said or ()
        stored = step.call.view.notes.units
        told = [
            {
                "session_index": int(stored.session_index[each.row]),
                "unit_index": int(stored.unit_index[each.row]),
                "tags": list(each.tags),
                "description": each.description,
            }
            for each in linked
        ]
        return written.with_note(int(step.call.view.row[step.unit]), linked), {"text": "", "linked": told}


def nearest(call: Call, unit: int, by_now: ByNow, words: Words) -> tuple[int, ...]:
    """The rows of the earlier notes that are most like the record of a unit, the most alike first, of equal ones the
    earlier: by vector where all have one, else by BM25 over them as they are by now."""
    if not by_now.rows:
        return ()
    units, vectors = call.view.notes.units, call.view.notes.vectors
    row, earlier = int(call.view.row[unit]), list(by_now.rows)
    if vectors is not None and np.isfinite(vectors[[row, *earlier]]).all():
        # einsum: a cosine is the same whatever stands beside it.
        like = np.round(np.einsum("nd,d->n", vectors[earlier], vectors[row]), _DECIMALS)
    else:
        like = words.bm25([by_now.text(each, units) for each in earlier], ByNow().text(row, units))
    best = np.lexsort((np.arange(len(earlier)), -like))[:NEIGHBOURS]
    return tuple(earlier[place] for place in best.tolist())


def _made(step: Step, by_now: ByNow, near: Sequence[int]) -> Callable[[int], Prompt]:
    call, units = step.call, step.call.view.notes.units
    unit_of = call.view.unit_of_row
    row = int(call.view.row[step.unit])
    new = headed(call, step.unit) + _told(row, ByNow(), units)
    notes = [f"[{n}] {headed(call, unit_of[each])}{_told(each, by_now, units)}" for n, each in enumerate(near, start=1)]

    def made(parts: int) -> Prompt:
        both = fenced_apart(new=new, earlier="\n".join(notes[:parts]))
        return Prompt(instructions(PROMPT).text, both, _TOKENS, _SCHEMA)

    return made


def _told(row: int, by_now: ByNow, units: Units) -> str:
    tags, description = by_now.about(row, units)
    return f"{units.record[row]} (tags: {', '.join(tags) or 'none'}; about: {description or 'not said'})"


def _tags(given: object) -> tuple[str, ...]:
    """Distinct short texts of a list, in lower case."""
    if not isinstance(given, list):
        return ()
    return tuple(dict.fromkeys(filter(None, (_line(item, _TAG_WORDS).lower() for item in given))))[:_TAGS]


def _line(given: object, most: int) -> str:
    """A text as one line of at most so many words; empty where it is none."""
    return " ".join(given.split()[:most]) if isinstance(given, str) else ""

"""Prompts for records that fit into a model's context: what is too long is read in part, and that is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from models.interfaces import LanguageModel, Prompt
from pipeline.records.asking import merge_prompt, numbered, record_prompt
from pipeline.records.record import UnitText

_LONGEST_LINE = 400
"""Characters of a line from which on it is cut within."""


class Asked(NamedTuple):
    """A prompt, and what it leaves out; empty where it leaves out nothing."""

    prompt: Prompt
    left_out: str


def unit_prompts(units: Sequence[UnitText], model: LanguageModel) -> list[Asked]:
    """A prompt for each unit: of one that is too long, the lines from its beginning that fit."""
    whole = [_of_unit(unit, numbered(unit)) for unit in units]
    counts = model.count(whole)
    return [
        Asked(prompt, "") if n_tokens <= _room(model, prompt) else _cut(unit, model)
        for unit, prompt, n_tokens in zip(units, whole, counts, strict=True)
    ]


def merge_prompts(groups: Sequence[Sequence[str]], model: LanguageModel) -> list[Asked]:
    """A prompt for each group of records: where all of them do not fit, each is cut to as many words as do."""
    whole = [merge_prompt(group) for group in groups]
    counts = model.count(whole)
    return [
        Asked(prompt, "") if n_tokens <= _room(model, prompt) else _shortened(group, model)
        for group, prompt, n_tokens in zip(groups, whole, counts, strict=True)
    ]


def _cut(unit: UnitText, model: LanguageModel) -> Asked:
    lines = [part for text in numbered(unit) for part in _lines(text)]
    fits, too_many = 0, len(lines)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        prompt = _of_unit(unit, lines[:middle])
        (n_tokens,) = model.count([prompt])
        fits, too_many = (middle, too_many) if n_tokens <= _room(model, prompt) else (fits, middle)
    return Asked(_of_unit(unit, lines[:fits]), f"too long: read to line {fits} of {len(lines)}")


def _shortened(group: Sequence[str], model: LanguageModel) -> Asked:
    words = max(len(text.split()) for text in group)
    while True:
        words = words * 3 // 4
        prompt = merge_prompt([" ".join(text.split()[:words]) for text in group])
        (n_tokens,) = model.count([prompt])
        if n_tokens <= _room(model, prompt) or words <= 1:
            return Asked(prompt, f"too long: read {words} words of each of {len(group)} records")


def _of_unit(unit: UnitText, lines: Sequence[str]) -> Prompt:
    return record_prompt(unit.session_time, unit.agent, "\n".join(lines))


def _room(model: LanguageModel, prompt: Prompt) -> int:
    return model.context - prompt.max_tokens


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, those that are very long in parts."""
    for line in text.split("\n"):
        for start in range(0, max(len(line), 1), _LONGEST_LINE):
            yield line[start : start + _LONGEST_LINE]

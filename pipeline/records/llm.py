"""The writer of records that asks a language model, and another writer where the model fails."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from models.interfaces import LanguageModel
from pipeline.llm.prompts import instructions
from pipeline.llm.rounds import RETRY_TEMPERATURE, ROUNDS, Complaint, Outcome, ask
from pipeline.records.asking import PROMPTS
from pipeline.records.fitting import Asked, merge_prompts, unit_prompts
from pipeline.records.record import MERGED_CUT, NOTHING, MergedRecord, Record, RecordWriter, UnitText
from pipeline.records.taken import Told, merged_text, told

_SCHEME = 1
"""Version of how answers are asked for and taken: to be raised with any change of what is written."""


def scheme() -> str:
    """What decides, beside the model, what is written: canonical JSON."""
    texts = [instructions(name).identity for name in PROMPTS]
    decides = {"scheme": _SCHEME, "prompts": texts, "rounds": ROUNDS, "temperature": RETRY_TEMPERATURE}
    return json.dumps(decides, sort_keys=True)


class LlmRecordWriter:
    """Asks `model` for the records of a shard's units in one batch. What comes back unusable is asked again, and is in
    the end written by `fallback` and marked `failed`."""

    def __init__(self, model: LanguageModel, fallback: RecordWriter, identity: str) -> None:
        self.name = model.name
        self.identity = identity
        self._model = model
        self._fallback = fallback

    def write(self, units: Sequence[UnitText]) -> list[Record]:
        """A record of each unit, in order."""
        asked = unit_prompts(units, self._model)
        outcomes = ask(self._model, [each.prompt for each in asked], lambda row, answer: told(answer, units[row]))
        return [self._record(*each) for each in zip(units, asked, outcomes, strict=True)]

    def merge(self, groups: Sequence[Sequence[str]]) -> list[MergedRecord]:
        """For each group of records' texts, in order of time, one text that stands for all of them."""
        asked = merge_prompts(groups, self._model)
        outcomes = ask(self._model, [each.prompt for each in asked], lambda _, answer: merged_text(answer, MERGED_CUT))
        return [self._merged(*each) for each in zip(groups, asked, outcomes, strict=True)]

    def _record(self, unit: UnitText, asked: Asked, outcome: Outcome[Told]) -> Record:
        found = outcome.taken
        if isinstance(found, Complaint):
            (other,) = self._fallback.write([unit])
            return replace(other, status="failed", **_marks(outcome, asked.left_out))
        return Record(
            writer=self.name,
            status="ok" if found.text else "nothing",
            text=found.text or NOTHING,
            keywords=found.keywords,
            tags=found.tags,
            description=found.description,
            facts=found.facts,
            dropped=found.dropped,
            **_marks(outcome, asked.left_out, "its answer was cut" if found.cut else ""),
        )

    def _merged(self, group: Sequence[str], asked: Asked, outcome: Outcome[str]) -> MergedRecord:
        found = outcome.taken
        if isinstance(found, Complaint):
            (other,) = self._fallback.merge([group])
            return replace(other, status="failed", **_marks(outcome, asked.left_out))
        return MergedRecord(writer=self.name, status="ok", text=found, **_marks(outcome, asked.left_out))


def _marks(outcome: Outcome[Any], *remarks: str) -> dict[str, Any]:
    """The fields of a record that say what it cost, and what is to be said of it."""
    return {
        "reason": "; ".join(filter(None, (*remarks, outcome.reason))),
        "attempts": outcome.attempts,
        "prompt_tokens": outcome.prompt_tokens,
        "completion_tokens": outcome.completion_tokens,
    }

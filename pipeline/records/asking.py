"""What a language model is asked for a record, and the shape of its answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from models.interfaces import Prompt
from pipeline.llm.prompts import instructions
from pipeline.llm.untrusted import fenced
from pipeline.records.record import UnitText

RECORD_TOKENS = 700
"""The most tokens of an answer: 80 words, eight facts, and the rest."""
MERGED_TOKENS = 260

PROMPTS = ("record", "record_steps", "merge")
"""The instructions that decide what is written."""

_TEXT: dict[str, Any] = {"type": "string"}


def _list(items: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _limited(most: int) -> dict[str, Any]:
    """A string of so many characters: a schema cannot count words."""
    return {**_TEXT, "maxLength": most}


FACT_KINDS = ("fact", "event", "preference", "plan", "update")
RECORD_SCHEMA = json.dumps(
    _object(
        summary=_limited(640),
        keywords=_list(_limited(60), 8),
        tags=_list(_limited(30), 4),
        description=_limited(160),
        facts=_list(
            _object(
                kind={"enum": list(FACT_KINDS)},
                text=_limited(240),
                lines=_list({"type": "integer", "minimum": 1, "maximum": 999}, 6),
                date=_limited(10),
            ),
            8,
        ),
    )
)
MERGED_SCHEMA = json.dumps(_object(summary=_limited(960)))


def numbered(unit: UnitText) -> list[str]:
    """The turns of a unit as the model sees them, one text each, numbered from 1."""
    return [f"[{number}] {turn.speaker or turn.role}: {turn.text}" for number, turn in enumerate(unit.turns, start=1)]


def record_prompt(time: datetime | None, agent: bool, text: str) -> Prompt:
    """The prompt for a unit whose text is `text`, or what of it the model can take."""
    dated = f"Date of the conversation: {time:%Y-%m-%d (%A)}\n\n" if time is not None else ""
    kind = "record_steps" if agent else "record"
    return Prompt(instructions(kind).text, f"{dated}{fenced('unit', text)}", RECORD_TOKENS, RECORD_SCHEMA)


def merge_prompt(records: Sequence[str]) -> Prompt:
    """The prompt for records that one text is to stand for."""
    listed = "\n".join(f"- {record}" for record in records)
    return Prompt(instructions("merge").text, fenced("records", listed), MERGED_TOKENS, MERGED_SCHEMA)

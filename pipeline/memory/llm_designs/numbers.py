"""Numbers of what a prompt lists, in an answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeGuard

from models.interfaces import Answer
from pipeline.llm.json_text import read_json
from pipeline.llm.rounds import Complaint


def number_schema(name: str, most: int) -> str:
    """The schema of an answer that is a list of numbers: `{"pages": [3, 1]}`."""
    numbers = {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 99_999}, "maxItems": most}
    shape = {"type": "object", "properties": {name: numbers}, "required": [name], "additionalProperties": False}
    return json.dumps(shape)


def numbers_in(answer: Answer, name: str, among: Sequence[int], most: int) -> tuple[int, ...] | Complaint:
    """The numbers that an answer gives, in its order, each once; those that are not among the listed are passed over.

    A complaint where there is no list, or where it names something and nothing of what is listed.
    """
    value = read_json(answer.text).value
    given = value.get(name) if isinstance(value, dict) else value
    if not isinstance(given, list):
        return Complaint("its answer holds no list of numbers")
    known = set(among)
    found = tuple(dict.fromkeys(number for number in given if is_one_of(number, max(among)) and number in known))
    return found[:most] if found or not given else Complaint("its answer names nothing that is listed")


def is_one_of(number: object, most: int) -> TypeGuard[int]:
    """Whether a value is a number from 1 to `most`."""
    return isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= most

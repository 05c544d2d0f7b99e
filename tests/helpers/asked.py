"""Slates, requests and answers for tests, from the columns that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from pipeline import schemas

_DEFAULTS: Mapping[str, Any] = {
    "history_id": "h",
    "request_id": "r",
    "mode": "reader",
    "text": "What?",
    "adversarial": False,
    "policy": "p",
    "budget": 900,
    "n_tokens": 1,
    "items": [],
    "reader": "m",
    "shape": "locomo",
    "repeat": 0,
    "finish": "stop",
    "status": "ok",
    "prompt_tokens": 10,
    "completion_tokens": 2,
    "attempts": 1,
    "judge": "j",
    "judging": 0,
}


def table(schema: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows of a schema; what a row does not say has its default, or is null."""
    return pa.Table.from_pylist(
        [{name: _DEFAULTS.get(name) for name in schema.names} | dict(row) for row in rows], schema
    )


def slates(*rows: Mapping[str, Any]) -> pa.Table:
    return table(schemas.SLATES, rows)


def requests(*rows: Mapping[str, Any]) -> pa.Table:
    return table(schemas.REQUESTS, rows)


def answered(*rows: Mapping[str, Any]) -> pa.Table:
    return table(schemas.ANSWERS, rows)


def judged(*rows: Mapping[str, Any]) -> pa.Table:
    return table(schemas.JUDGEMENTS, rows)

"""Identity of configuration: literals only, so that nothing is skipped by accident."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any


class FingerprintError(TypeError):
    """A value has no canonical literal form; the message names its place."""


def fingerprint(value: Any) -> str:
    """sha256 (hex) of the canonical JSON of literals: str, int, float, bool, None, lists, tuples, dicts with str keys.

    Raises FingerprintError for anything else, and for NaN.
    """
    canonical = json.dumps(_literal(value, "value"), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _literal(value: Any, place: str) -> Any:
    kind = type(value)
    if value is None or kind in (str, bool, int):
        return value
    if kind is float:
        if math.isnan(value):
            raise FingerprintError(f"{place} is NaN, which equals nothing")
        return {"float": repr(value)}
    if kind in (list, tuple):
        return [_literal(item, f"{place}[{index}]") for index, item in enumerate(value)]
    if kind is dict:
        for key in value:
            if type(key) is not str:
                raise FingerprintError(f"{place} has the key {key!r}, which is no text")
        return {"map": {key: _literal(item, f"{place}.{key}") for key, item in value.items()}}
    raise FingerprintError(f"{place} is a {kind.__module__}.{kind.__qualname__}, which has no literal form")

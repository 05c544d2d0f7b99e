"""Folds of a cross-validation: every history lies in one, and they hold about equally many requests."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

FOLDS = 5
"""Folds of a training that names no number."""


def assign(history_ids: Iterable[str], folds: int) -> dict[str, int]:
    """The fold (from 0) of each history, from the history of each request to learn from.

    Histories go, those of most requests first, to the fold that has fewest so far (longest processing time first,
    Graham 1969); equals stand in the order of a hash. So folds depend on the histories and the numbers of their
    requests alone, and none is empty. Fewer histories than `folds` make as many folds as there are histories: each is
    left out once. A history may change its fold when others come, but never stands in two.
    """
    counts = Counter(history_ids)
    loads = [0] * min(folds, len(counts))
    found: dict[str, int] = {}
    for history_id in sorted(counts, key=lambda name: (-counts[name], _hash(name))):
        fold = loads.index(min(loads))
        found[history_id] = fold
        loads[fold] += counts[history_id]
    return found


def _hash(history_id: str) -> bytes:
    return hashlib.sha256(f"fold/{history_id}".encode()).digest()

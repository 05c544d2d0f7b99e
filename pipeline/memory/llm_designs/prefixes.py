"""What a request has read of a history up to a unit: equal names mean equal units, in the same order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from pipeline.memory.call import Call


def prefixes(call: Call, units: Sequence[int]) -> list[str]:
    """For each of these units a name of it and of all before it.

    It is made of where the units lie and how far they reach: what is stored there never changes, and a unit that a
    request sees in part is another than the whole.
    """
    view, stored, turns = call.view, call.view.notes.units, call.view.notes.turns
    names: list[str] = []
    for unit in units:
        row, last = int(view.row[unit]), int(view.last[unit])
        place = (stored.session_index[row], stored.unit_index[row], turns.turn_index[last], view.end[unit])
        said = ",".join(str(int(part)) for part in place)
        before = names[-1] if names else ""
        names.append(hashlib.sha256(f"{before}/{said}".encode()).hexdigest()[:24])
    return names

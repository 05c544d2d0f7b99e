"""The timeline: records in order of time, merged where they take more room than they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from operator import itemgetter

from pipeline.memory.notes import NO_RECORD
from pipeline.memory.view import View
from pipeline.records.write import FANOUT


@dataclass(frozen=True)
class Entry:
    """One line of a timeline: the record of a unit, or a merged record that stands for several (`node`)."""

    units: tuple[int, ...]
    n_tokens: int
    node: tuple[int, int] | None = None


class Tree:
    """The entries that a timeline of some units may have, each with its tokens.

    `tokens_of_record` and `tokens_of_node` count whole lines. Merging goes level by level, the oldest first, over nodes
    of which every leaf is among the units (a node of the tree is fixed by the order of writing, so a later call merges
    what an earlier one merged). It stops as soon as what is left has room.
    """

    def __init__(
        self,
        view: View,
        units: Sequence[int],
        tokens_of_record: Sequence[int],
        tokens_of_node: dict[tuple[int, int], int],
    ) -> None:
        self._tokens_of_node = tokens_of_node
        leaves = [int(view.notes.units.leaf[view.row[unit]]) for unit in units]
        assert NO_RECORD not in leaves, "a timeline is of units that have records"
        self._unit_of_leaf = dict(zip(leaves, units, strict=True))
        self._entries = {
            leaf: Entry((unit,), n_tokens) for leaf, unit, n_tokens in zip(leaves, units, tokens_of_record, strict=True)
        }

    def within(self, room: int) -> list[Entry]:
        """The entries, by time, that are left once they take no more than `room` tokens.

        Where merging is not enough the oldest are left out: of the entries as they are after merging none, one, two and
        more levels, the newest that fit, and of these the ones that tell of the most units.
        """
        entries = dict(self._entries)
        total = sum(entry.n_tokens for entry in entries.values())
        by_level = [dict(entries)]
        for level, nodes in groupby(self._nodes(), key=itemgetter(0)):
            for _, node in nodes:
                if total <= room:
                    return _by_time(entries)
                total -= self._merge(entries, level, node)
            by_level.append(dict(entries))
        if total <= room:
            return _by_time(entries)
        newest = [_newest(_by_time(of_level), room) for of_level in by_level]
        return max(newest, key=lambda kept: sum(len(entry.units) for entry in kept))

    def _merge(self, entries: dict[int, Entry], level: int, node: int) -> int:
        """Puts a merged record in the place of what it stands for, if that saves tokens; returns how many."""
        size = FANOUT**level
        below = [leaf for leaf in range(node * size, (node + 1) * size) if leaf in entries]
        merged = self._tokens_of_node[level, node]
        saved = sum(entries[leaf].n_tokens for leaf in below) - merged
        if saved <= 0:
            return 0
        units = tuple(sorted(unit for leaf in below for unit in entries.pop(leaf).units))
        entries[node * size] = Entry(units, merged, (level, node))
        return saved

    def _nodes(self) -> list[tuple[int, int]]:
        """The nodes that may be shown, in the order in which they are merged."""
        return sorted(
            (level, node)
            for level, node in self._tokens_of_node
            if all(leaf in self._unit_of_leaf for leaf in range(node * FANOUT**level, (node + 1) * FANOUT**level))
        )


def _by_time(entries: Mapping[int, Entry]) -> list[Entry]:
    return sorted(entries.values(), key=lambda entry: entry.units)


def _newest(entries: Sequence[Entry], room: int) -> list[Entry]:
    """The longest run of newest entries that fits."""
    used = list(accumulate(entry.n_tokens for entry in reversed(entries)))
    fitting = sum(tokens <= room for tokens in used)
    return list(entries[len(entries) - fitting :])

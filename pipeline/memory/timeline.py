"""The timeline: records in order of time, merged where they take more room than they are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
        """The entries, by time, that are left once they take no more than `room` tokens: merged, and where that is not
        enough without the oldest."""
        entries = dict(self._entries)
        total = sum(entry.n_tokens for entry in entries.values())
        for level, node in self._nodes():
            if total <= room:
                break
            below = [leaf for leaf in entries if leaf // FANOUT**level == node]
            merged = self._tokens_of_node[level, node]
            saved = sum(entries[leaf].n_tokens for leaf in below) - merged
            if saved <= 0:
                continue
            units = tuple(sorted(unit for leaf in below for unit in entries.pop(leaf).units))
            entries[node * FANOUT**level] = Entry(units, merged, (level, node))
            total -= saved
        kept = sorted(entries.values(), key=lambda entry: entry.units)
        while kept and total > room:
            total -= kept.pop(0).n_tokens
        return kept

    def _nodes(self) -> list[tuple[int, int]]:
        """The nodes that may be shown, in the order in which they are merged."""
        return sorted(
            (level, node)
            for level, node in self._tokens_of_node
            if all(leaf in self._unit_of_leaf for leaf in range(node * FANOUT**level, (node + 1) * FANOUT**level))
        )

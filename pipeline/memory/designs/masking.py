"""Observation masking (Lindenbauer et al. 2025, arXiv 2508.21433; FlexA-Mem, arXiv 2610.33274, appendix C): all that an
agent thought and did, and what came of its last ten steps.

What came of older steps gives way to a placeholder, or (`masking_with_log`, appendix B) to a line that a rule writes of
it; while that is too much, so does what came of later steps, but never of the newest turn; then the oldest steps are
left out, or become lines of a log, which are left out last. Turns of a conversation have no outcomes: of these as many
of the newest are shown as fit. The recent window is a part of all this, and is not shown by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pipeline.memory.call import NEWEST, Call
from pipeline.memory.designs.filling import something
from pipeline.memory.designs.once import once_a_view
from pipeline.memory.designs.outcomes import logged, masked, told
from pipeline.memory.draft import Block, Draft
from pipeline.memory.head_and_tail import head_and_tail
from pipeline.memory.lines import Line, Span

STEPS = 10
"""The last steps, of which what came is shown while it fits."""

Form = Callable[[Call, int], list[Line]]
"""The lines of the turn at a place."""


def observation_masking(call: Call) -> Draft:
    """Placeholders, and the oldest steps left out."""
    return _masked(call, (_whole, masked)) if call.view.notes.agent else newest_turns(call)


def masking_with_log(call: Call) -> Draft:
    """Lines that tell what came of a step, and the oldest steps as lines of a log, as far as it fits."""
    return _masked(call, (_whole, told, logged)) if call.view.notes.agent else newest_turns(call)


def newest_turns(call: Call) -> Draft:
    """The longest run of newest turns that fits, under the labels of their units."""
    room = call.total
    blocks: list[Block] = []
    for unit in reversed(range(len(call.view))):
        lines = call.writer.raw(unit, len(blocks) + 1, None)
        room -= call.counts.lines(lines[:1])
        turns = lines[1:]
        kept = 0
        for turn in reversed(turns):
            room -= call.counts.lines([turn])
            if room < 0:
                break
            kept += 1
        if kept:
            blocks.append(Block(unit, (lines[0], *turns[-kept:]), len(blocks) + 1))
        if kept < len(turns):
            break
    return something(call, Draft(blocks=tuple(blocks), with_window=False), call.past[::-1])


@dataclass
class _Turn:
    """A turn, and the form that it has: a place among those that a design has, or after the last, none."""

    place: int
    form: int


def _masked(call: Call, forms: Sequence[Form]) -> Draft:
    """Turns in the first of the forms that fit, one by one taken to the next one, the oldest first; the last ten steps
    only lose what came of them until nothing older is left."""
    places = np.flatnonzero(call.view.seen).tolist()
    if not places:
        return Draft(with_window=False)
    step = call.view.step
    older = int(step[places[-1]]) - STEPS
    turns = [_Turn(place, int(step[place] <= older)) for place in places]
    newest = turns.pop()
    newest.form = 0
    tokens = [once_a_view(call, f"tokens of turns {form.__name__}", dict[int, int]) for form in forms]

    def cost(turn: _Turn) -> int:
        if turn.form == len(forms):
            return 0
        known = tokens[turn.form]
        if turn.place not in known:
            known[turn.place] = call.counts.lines(forms[turn.form](call, turn.place))
        return known[turn.place]

    last = _newest(call, newest.place)
    left = call.total - call.counts.lines(last) - sum(cost(turn) for turn in turns)
    recent = [turn for turn in turns if not turn.form]
    before = [turn for turn in turns if turn.form]
    rest = range(2, len(forms) + 1)
    for of, form in [(recent, 1), *((before, form) for form in rest), *((recent, form) for form in rest)]:
        for turn in of:
            if left >= 0:
                break
            left += cost(turn)
            turn.form = form
            left -= cost(turn)
    shown = [(turn.place, forms[turn.form](call, turn.place)) for turn in turns if turn.form < len(forms)]
    shown.append((newest.place, last))
    return Draft(
        blocks=tuple(
            Block(call.view.unit_at(place, 0), tuple(lines), len(shown) - at) for at, (place, lines) in enumerate(shown)
        ),
        with_window=False,
    )


def _whole(call: Call, place: int) -> list[Line]:
    return call.writer.turn(place, [_span(call, place)])


def _newest(call: Call, place: int) -> list[Line]:
    """The newest turn; of one that takes too much, the head and the tail."""
    lines = _whole(call, place)
    room = int(NEWEST * call.total)
    fits = partial(head_and_tail, [_span(call, place)], call.view.notes.turns.text, count=call.counts.many)
    aimed = room
    while call.counts.lines(lines) > room and aimed > 0:
        lines = call.writer.spans(fits(aimed), "raw", 0, None)
        aimed = aimed * 9 // 10
    return lines


def _span(call: Call, place: int) -> Span:
    return Span(place, 0, len(call.view.notes.turns.text[place]))

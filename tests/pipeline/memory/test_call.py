"""One call of an agent: its window, and what it looks for pieces and excerpts by."""

from __future__ import annotations

import numpy as np
import pytest
from noted import COUNTER, request, said, stored

from pipeline.memory.call import NEWEST, WINDOW, Call
from pipeline.memory.lines import OMITTED, Line
from pipeline.memory.options import MemoryOptions
from pipeline.memory.recovery import excerpt, fitting_pieces, share
from pipeline.memory.slates import calls
from pipeline.policies.slates import SlateOptions
from pipeline.units.cut import CutOptions

pytestmark = pytest.mark.flash
MEMORY = MemoryOptions(cut=CutOptions(agent_tokens=30), piece_tokens=12, excerpt_tokens=8, prompt_tokens=0)


def call_of(steps: list[str], budget: int, memory: MemoryOptions = MEMORY) -> Call:
    turns = said(0, ("user", "Mend the port of the train."), *[("assistant", step) for step in steps])
    made = stored([turns], [request("Go on.", mode="agent", seen_session=0, seen_turn=len(steps))], memory)
    ((call, _),) = calls(made.asked, made.noted, SlateOptions((), (budget,)), memory, COUNTER, None)
    return call


STEPS = [f"I look at file {n}.\n\n$ cat file{n}.txt\n=>\nvalue {n} of kite\nvalue {n} of lamp" for n in range(12)]


@pytest.mark.parametrize("budget", [200, 400, 800, 1600])
def test_the_window_is_the_longest_run_of_newest_units_within_a_quarter_of_the_budget(budget):
    call = call_of(STEPS, budget)
    n_units, taken = len(call.view), call.window
    assert taken == tuple(range(n_units - len(taken), n_units))
    room = min(WINDOW * budget, NEWEST * call.total)
    assert sum(map(call.raw_tokens, taken)) <= room or len(taken) == 1
    if len(taken) < n_units:
        assert sum(map(call.raw_tokens, taken)) + call.raw_tokens(n_units - len(taken) - 1) > room


def test_excerpts_are_looked_for_by_the_newest_unit_and_not_by_the_task():
    listed = ["mend the port of the train", *[f"nothing at all {n}" for n in range(6)], "Oslo"]
    steps = ["$ cat all.txt\n=>\n" + "\n".join(listed), *STEPS, "$ date\n=>\nOslo"]
    call = call_of(steps, 300, MEMORY.model_copy(update={"cut": CutOptions(agent_tokens=80), "piece_tokens": 8}))
    unit = next(unit for unit in call.past if "Oslo" in shown(call, call.view.pieces_of[unit].tolist()))
    assert "mend the port" in shown(call, call.view.pieces_of[unit].tolist())
    taken = shown(call, excerpt(call, unit))
    assert "Oslo" in taken
    assert "mend the port" not in taken
    # Pieces are recovered by the task too: there its own line comes first.
    assert shown(call, [int(call.piece_order[0])]).lower() == "mend the port of the train."


def test_beside_a_long_newest_unit_the_timeline_keeps_its_share_of_what_a_full_window_leaves():
    budget, large = 400, MEMORY.model_copy(update={"cut": CutOptions(agent_tokens=300)})
    short, long = call_of(STEPS, budget), call_of([*STEPS, "a very long line of kites " * 38], budget, large)
    # 380 tokens are usable, a full window takes 100, and the long unit more than that.
    assert long.allowance < long.full_window_allowance == 280 < short.allowance
    assert share(long) == min(int(long.rho * 280), long.allowance) > int(long.rho * long.allowance)
    assert share(short) == int(short.rho * short.allowance)


def test_pieces_that_do_not_follow_each_other_pay_for_the_mark_between_them():
    call = call_of(STEPS, 200)
    first, beyond = 0, 2
    assert call.view.unit_of[beyond] < len(call.past)
    header, line = call.piece_tokens(first)
    mark = call.counts.lines([Line(OMITTED)])
    needed = header + line + call.piece_tokens(beyond)[1] + mark
    scores = np.zeros(len(call.view.piece))

    def taken(order: list[int], room: int) -> list[int]:
        return [each.piece for each in fitting_pieces(call, np.array(order), scores, room)]

    assert taken([first, beyond], needed) == [first, beyond]
    assert taken([first, beyond], needed - 1) == [first]
    # One that lies between two that are shown takes the place of the mark.
    assert taken([first, beyond, 1], needed + call.piece_tokens(1)[1] - mark) == [first, beyond, 1]


def shown(call: Call, pieces: list[int] | tuple[int, ...]) -> str:
    spans = [call.writer.span(piece) for piece in pieces]
    return "\n".join(call.view.notes.turns.text[span.place][span.start : span.end] for span in spans)

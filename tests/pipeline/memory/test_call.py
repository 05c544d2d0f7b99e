"""One call of an agent: its window, and what it looks for pieces and excerpts by."""

from __future__ import annotations

import pytest
from noted import COUNTER, request, said, stored

from pipeline.memory.call import NEWEST, WINDOW, Call
from pipeline.memory.options import MemoryOptions
from pipeline.memory.recovery import excerpt
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


def shown(call: Call, pieces: list[int] | tuple[int, ...]) -> str:
    spans = [call.writer.span(piece) for piece in pieces]
    return "\n".join(call.view.notes.turns.text[span.place][span.start : span.end] for span in spans)

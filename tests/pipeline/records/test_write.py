"""What a writer of records reads of a unit."""

from __future__ import annotations

import pytest
from noted import COUNTER, request, said, stored

from pipeline.memory.options import MemoryOptions
from pipeline.records.write import going_on, unit_texts
from pipeline.units.cut import CutOptions

pytestmark = pytest.mark.flash

LISTED = "\n".join(f'"note_{n}": "QU-{n}",' for n in range(60))


@pytest.mark.parametrize(
    ("before", "stands_above"),
    [
        ("", ""),
        ("A thought alone.\n\nMore of it", ""),
        ("Think.\n\n$ cat a.py\n", ""),
        ("$ cat a.py | head\n=>\none\ntwo\n", "$ cat a.py | head\n=>\n"),
        ("$ a = 1\nb = 2\n=>\n3\n\n$ python run.py\nwith more\n=>\nout", "$ python run.py\n=>\n"),
        ("=>\nwhat came of a call that is not here", ""),
    ],
)
def test_a_part_of_an_outcome_goes_on_below_its_action(before, stands_above):
    assert going_on(before) == stands_above


def test_the_records_of_a_long_step_all_name_what_was_done():
    memory = MemoryOptions(cut=CutOptions(agent_tokens=120), piece_tokens=40)
    turns = said(0, ("user", "List the notes."), ("assistant", f"I list.\n\n$ notes.list(page=3)\n=>\n{LISTED}"))
    made = stored([turns], [request("Go on.", mode="agent", seen_session=0, seen_turn=1)], memory)
    records = made.noted.records.to_pylist()
    of_step = [record["text"] for record in records if "List the notes" not in record["text"]]
    assert len(of_step) > 4
    assert all("notes.list(page=3)" in text for text in of_step)
    read = unit_texts(made.noted.units, made.noted.turns)
    assert all(unit.turns[-1].text.startswith(("List", "I list", "$ notes.list(page=3)\n=>\n")) for unit in read)
    assert COUNTER.count(LISTED) > 4 * 120

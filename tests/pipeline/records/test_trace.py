"""A trace shows something of every step, keeps paths and errors, and folds what is done again."""

from __future__ import annotations

import pytest

from pipeline.records.record import UnitTurn
from pipeline.records.trace import trace

pytestmark = pytest.mark.flash


def steps(*texts: str) -> list[UnitTurn]:
    return [UnitTurn(index, "assistant", None, text) for index, text in enumerate(texts)]


def test_each_step_is_what_was_done_and_what_came_of_it() -> None:
    told = trace(
        steps("$ ls src\n=>\nmain.py", "Run it.\n\n$ python src/main.py\n=>\nNameError: name 'x' is not defined")
    )
    assert told.startswith("ls src → main.py; python src/main.py → NameError: name 'x' is not defined")


def test_the_same_action_again_is_folded() -> None:
    assert trace(steps(*["$ sleep 1\n=>\nwaiting"] * 3)) == "sleep 1 x3 → waiting"


@pytest.mark.parametrize("count", [1, 5, 12, 26])
def test_every_step_shows_something_however_many_there_are(count: int) -> None:
    told = trace(steps(*[f"$ tool{number} with many long arguments here\n=>\nsome outcome" for number in range(count)]))
    assert [f"tool{number}" in told for number in range(count)] == [True] * count
    assert len(told.split()) <= 80


def test_of_too_many_steps_runs_of_a_command_are_told_together() -> None:
    told = trace(steps(*[f"$ cat file{number}.py\n=>\nx" for number in range(60)], "$ make\n=>\nok then"))
    assert told == "cat x60 → x; make → ok then"


def test_what_was_asked_is_told_before_the_steps() -> None:
    task = UnitTurn(0, "user", None, "Hello! Fix the crash in load_config of src/config.py.")
    told = trace(
        [task, UnitTurn(1, "assistant", None, "$ grep -n load_config src/config.py\n=>\n12: def load_config():")]
    )
    assert told.startswith(
        "Task: Fix the crash in load_config of src/config.py; grep -n load_config src/config.py → 12:"
    )


def test_room_that_is_left_goes_to_the_last_thought() -> None:
    assert trace(steps("The colon on line 4 is missing.\n\n$ ls\n=>\na.py")) == (
        "ls → a.py. Thought: The colon on line 4 is missing"
    )


def test_an_output_without_its_action_is_an_outcome() -> None:
    lines = "\n".join(f"row{number}.csv" for number in range(8))
    assert trace([UnitTurn(3, "assistant", None, lines)]).startswith("8 lines: row0.csv row1.csv")
    assert trace([UnitTurn(3, "tool", None, "8.2")]) == "8.2"

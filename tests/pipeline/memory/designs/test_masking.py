from __future__ import annotations

import pytest
from slate_of import chat, run, slate, step

from pipeline.memory.designs.outcomes import _placeholder

pytestmark = pytest.mark.flash

STEPS = 16
AGENT = {"mode": "agent", "seen_session": 0, "seen_turn": STEPS}


def shown(policy: str, budget: int, lines: int = 12) -> str:
    turns = run(*[step(number, lines) for number in range(1, STEPS + 1)])
    return slate(policy, turns, "Mend the port.", budget, **AGENT)["text"]


def outcomes(text: str) -> list[int]:
    return [number for number in range(1, STEPS + 1) if f"out{number} 11" in text]


def actions(text: str) -> list[int]:
    return [number for number in range(1, STEPS + 1) if f"$ cat file{number}.txt" in text]


def test_all_actions_are_shown_and_what_came_of_the_last_ten_steps():
    text = shown("observation_masking", 1250)
    assert (actions(text), outcomes(text)) == (list(range(1, 17)), list(range(7, 17)))
    assert "[step 6] Thought 6.\n\n$ cat file6.txt\n=> (12 lines left out)\n[step 7]" in text


def test_more_is_masked_where_that_is_too_much_and_the_oldest_steps_go_last():
    text = shown("observation_masking", 800)
    assert actions(text) == list(range(1, 17))
    assert outcomes(text) == list(range(outcomes(text)[0], 17))
    assert 2 <= len(outcomes(text)) < 10
    text = shown("observation_masking", 240)
    assert outcomes(text) == [16]
    assert actions(text) == list(range(actions(text)[0], 17))
    assert len(actions(text)) < 16


def test_with_a_log_a_line_tells_what_came_and_steps_that_have_no_room_are_lines():
    text = shown("masking_with_log", 1250)
    assert "[step 6] Thought 6.\n\n$ cat file6.txt\n=> 12 lines: out6 0\n" in text
    text = shown("masking_with_log", 480)
    assert "[step 1] cat file1.txt → 12 lines: out1 0" in text
    assert set(actions(text)) >= set(range(7, 17)), "the last ten steps keep their actions"


def test_the_log_goes_before_the_last_ten_steps_do():
    text = shown("masking_with_log", 340)
    assert set(actions(text)) >= set(range(7, 17))
    assert "[step 1] " not in text


def test_an_outcome_that_is_shorter_than_its_placeholder_stays():
    text = shown("observation_masking", 420, lines=1)
    assert actions(text) == list(range(1, 17))
    assert "left out" not in text
    assert [_placeholder("a"), _placeholder("a\nb")] == ["=> (1 line left out)", "=> (2 lines left out)"]


def test_a_newest_step_that_is_too_long_keeps_its_head_and_its_tail():
    turns = run(step(1), step(2, lines=200))
    text = slate("observation_masking", turns, "Mend the port.", 200, mode="agent", seen_session=0, seen_turn=2)["text"]
    assert "$ cat file2.txt" in text
    assert text.endswith("out2 199")
    assert "out2 100\n" not in text


def test_of_a_chat_the_newest_turns_are_shown_as_many_as_fit():
    turns = chat(*[[f"Say {day} {turn} and some words." for turn in range(4)] for day in range(6)])
    every = [(turn["session_index"], turn["turn_index"]) for turn in turns]
    shown = []
    for budget in range(110, 150, 10):
        row = slate("observation_masking", turns, "Tea?", budget)
        assert slate("masking_with_log", turns, "Tea?", budget)["text"] == row["text"]
        places = [(item["session_index"], item["turn_index"]) for item in row["items"]]
        assert places == every[-len(places) :]
        shown.append(len(places))
    assert any(number % 4 for number in shown), "a unit may be shown in part"
    assert shown == sorted(shown)

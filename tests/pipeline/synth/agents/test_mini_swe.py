"""The file of generated runs: told by its content, every step a turn with a request, nothing in quarantine."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.ingest.detect import detect
from pipeline.ingest.formats import arrivals
from pipeline.ingest.source import Document
from pipeline.synth.agents.histories import agent_history, json_chunks
from pipeline.synth.agents.mini_swe import position

pytestmark = pytest.mark.flash
RUNS = 3


def document(seed):
    return Document.of(io.BytesIO(b"".join(json_chunks(RUNS, seed))), "agents.json")


def read(seed):
    (arrival,) = arrivals("mini-swe-agent", [document(seed)], {"requests": "every-step"})
    return arrival


@settings(max_examples=4)
@given(st.integers(0, 2**40))
def test_every_step_is_a_turn_and_asks_for_the_next(seed):
    assert detect(document(seed)) == "mini-swe-agent"
    arrival = read(seed)
    assert arrival.quarantine.num_rows == 0
    turns, requests = arrival.turns.to_pylist(), arrival.requests.to_pylist()
    for index, name in enumerate(["agents", "agents:1", "agents:2"]):
        history = agent_history(seed, index)
        task, *steps = [turn for turn in turns if turn["history_id"] == name]
        assert (task["role"], task["text"]) == ("user", history.task)
        assert 60 <= len(steps) == len(history.steps) <= 250
        assert {turn["role"] for turn in steps} == {"assistant"}
        asked = [request["request_id"] for request in requests if request["history_id"] == name]
        assert asked == [f"{name}#s{position(step)}" for step in range(len(steps))]


def test_a_turn_holds_the_thought_the_action_and_the_output_of_its_step():
    history = next(one for one in (agent_history(1, index) for index in range(RUNS)) if one.steps[0].thought)
    texts = [turn["text"] for turn in read(1).turns.to_pylist() if turn["role"] == "assistant"]
    first = history.steps[0]
    text = next(text for text in texts if text.startswith(first.thought) and first.output.strip() in text)
    assert "\n\n$ " in text
    assert "\n=>\n" in text


def test_the_file_tells_by_positions_of_turns_which_action_needs_what():
    runs = json.loads(b"".join(json_chunks(RUNS, 4)))
    for index, run in enumerate(runs):
        messages, reuses = run["messages"], run["info"]["reuses"]
        assert len(reuses) == len(agent_history(4, index).reuses) > 50
        for one in reuses:
            (call,) = messages[one["turn"]]["tool_calls"]
            values = json.loads(call["function"]["arguments"]).values()
            assert any(one["text"] in text for text in [call["function"]["name"], *map(str, values)])
            assert all(one["text"] in messages[turn + 1]["content"] for turn in one["shown"])
            assert max(one["shown"]) <= one["held"] < one["turn"]

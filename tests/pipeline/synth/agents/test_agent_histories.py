"""Histories of agents: so many steps, the same bytes for ever, and later steps that need what earlier ones showed."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.synth.agents.histories import FAMILIES, LEAST, agent_history, json_chunks

GOLDEN = "36213625803cc963e18ca1e16b106cdd19b584a953c9876c676026b1a50f0baa"
SEEDS, INDICES = st.integers(0, 2**40), st.integers(0, 2**30)
FAR, FROM = 10, 20
NAMES_MAIL = re.compile(r"[\w.]+@(?!example\.(?:org|com|net)\b)[\w.]+")


def reused_from_afar(history):
    """The share of steps from the 20th on that need a detail which no step of the last nine holds."""
    users = {one.used for one in history.reuses if one.used >= FROM and one.distance >= FAR}
    return len(users) / (len(history.steps) - FROM)


@pytest.mark.flash
def test_the_same_seed_gives_the_same_bytes_on_any_machine():
    data = b"".join(json_chunks(histories=6, seed=5, fewest=30, most=60))
    assert hashlib.sha256(data).hexdigest() == GOLDEN


@pytest.mark.flash
def test_a_stream_is_a_json_array_and_a_longer_one_begins_with_a_shorter():
    short, long = json_chunks(2, 1, 20, 30), json_chunks(4, 1, 20, 30)
    first, second = json.loads(b"".join(short)), json.loads(b"".join(long))
    assert first == second[:2]
    assert len({run["instance_id"] for run in second}) == 4
    assert len(list(islice(json_chunks(10**9, 1), 3))) == 3


@pytest.mark.flash
@settings(max_examples=25)
@given(SEEDS, INDICES, st.integers(LEAST, 90), st.integers(0, 60))
def test_a_history_has_as_many_steps_as_asked_for_and_is_the_same_again(seed, index, fewest, more):
    history = agent_history(seed, index, fewest, fewest + more)
    assert fewest <= len(history.steps) <= fewest + more
    assert history == agent_history(seed, index, fewest, fewest + more)


@pytest.mark.flash
@pytest.mark.parametrize("arguments", [(1, -1), (1, 0, LEAST - 1, 30), (1, 0, 40, 39)])
def test_impossible_arguments_are_refused(arguments):
    with pytest.raises(ValueError, match="10 steps or more"):
        agent_history(*arguments)


@pytest.mark.flash
@settings(max_examples=15)
@given(SEEDS, INDICES)
def test_what_is_reused_stands_in_an_earlier_output_and_in_the_later_action(seed, index):
    history = agent_history(seed, index)
    for one in history.reuses:
        assert one.text in history.steps[one.used].action
        assert one.shown
        assert all(step < one.used and one.text in history.steps[step].output for step in one.shown)
        assert one.text not in history.task
        held = history.steps[one.held]
        assert max(one.shown) <= one.held < one.used
        assert one.text in "\n".join([held.thought, held.action, held.output])


@pytest.mark.flash
@settings(max_examples=25)
@given(SEEDS, INDICES)
def test_three_of_ten_steps_or_more_need_what_was_last_to_be_read_ten_steps_before(seed, index):
    assert reused_from_afar(agent_history(seed, index)) >= 0.3


@pytest.mark.flash
@settings(max_examples=10)
@given(SEEDS, INDICES)
def test_no_text_is_left_unfilled_and_nobody_is_real(seed, index):
    history = agent_history(seed, index)
    for step in history.steps:
        for text in (history.task, step.thought, step.action, step.output):
            assert not re.search(r"\{(a |the )?[a-z_]+\}|\(\w+\|", text), text
            assert not NAMES_MAIL.search(text), text


def test_every_family_comes_with_near_and_far_distances_short_and_long_outputs_and_failures():
    histories = [agent_history(3, index) for index in range(60)]
    assert min(Counter(history.family for history in histories).values()) >= 10
    assert len({history.task for history in histories}) > 40
    for family in FAMILIES:
        of_it = [history for history in histories if history.family == family]
        distances = Counter(min(one.distance, 60) for history in of_it for one in history.reuses)
        near, far = (sum(distances[step] for step in steps) for steps in (range(2, 6), range(10, 61)))
        assert min(near, far, distances[60]) > 0.05 * distances.total()
        lines = [step.output.count("\n") + 1 for history in of_it for step in history.steps]
        assert sum(count <= 12 for count in lines) > 0.4 * len(lines)
        assert 0.03 * len(lines) < sum(20 <= count <= 150 for count in lines)
        failed = [re.search(r"<returncode>1|\"status\": 4", step.output) for one in of_it for step in one.steps]
        assert 0.02 < sum(map(bool, failed)) / len(failed) < 0.4
        assert {bool(step.thought) for history in of_it for step in history.steps} == {True, False}

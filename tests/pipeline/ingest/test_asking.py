"""Requests that are made of a log see exactly what came before them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.ingest.asking import STEP_CHARACTERS, TASK_CHARACTERS, asked_by_step, asked_by_user
from pipeline.ingest.settle import settle
from pipeline.ingest.source import SourceHistory, SourceSession, SourceTurn
from pipeline.ingest.staging import Staging
from pipeline.schemas import LABELS, REQUESTS, SOURCES

pytestmark = pytest.mark.flash

ROLES = st.lists(st.sampled_from(["user", "assistant", "tool", "blank"]), max_size=8)


def a_session(position: int, roles: list[str]) -> SourceSession:
    turns = [
        SourceTurn(at, "user" if role == "blank" else role, " " if role == "blank" else f"{role} {position}.{at}")
        for at, role in enumerate(roles)
    ]
    return SourceSession(position, f"s{position}", None, turns)


@pytest.mark.parametrize("requests", ["none", "last", "every-step"])
@settings(deadline=None)
@given(sessions=st.lists(ROLES, min_size=1, max_size=3))
def test_a_message_is_asked_of_all_that_was_said_before_it_and_of_nothing_else(
    words: Any, requests: Any, sessions: list[list[str]]
) -> None:
    staging = Staging("test")
    staging.begin("f")
    history = SourceHistory("h", 0, [a_session(position, roles) for position, roles in enumerate(sessions)])
    for session in history.sessions:
        history.requests += asked_by_user(session, requests, str(session.name), "x", len(history.requests))
    staging.add(history)
    settled = settle([staging.take()], 0, SOURCES.empty_table(), REQUESTS.empty_table(), LABELS.empty_table(), words)
    assert settled.quarantine.num_rows == 0
    stored = pl.DataFrame(settled.turns).with_row_index("order")
    for row in settled.requests.to_pylist():
        own = stored.filter(pl.col("text") == row["text"])
        seen = stored.filter(
            (pl.col("session_index") < row["seen_session"])
            | ((pl.col("session_index") == row["seen_session"]) & (pl.col("turn_index") <= row["seen_turn"]))
        )
        assert seen["order"].to_list() == list(range(own["order"].item()))
    asked = [sum(role == "user" for role in roles) for roles in sessions]
    expected = {"none": 0, "last": sum(count > 0 for count in asked), "every-step": sum(asked)}
    assert settled.requests.num_rows == expected[requests]


def test_what_a_turn_asks_bears_its_id_and_the_position_of_one_without() -> None:
    names = ("a", None, "a", "b", "a")
    turns = [SourceTurn(at, "user", f"text {at}", name=name) for at, name in enumerate(names)]
    made = asked_by_user(SourceSession(0, "s", None, turns), "every-step", "s", "x")
    assert [request.request_id for request in made] == ["s#a", "s#t1", "s#a~1", "s#b", "s#a~2"]


def test_a_turn_was_asked_at_its_own_time_unless_its_session_began_later() -> None:
    began = datetime(2025, 2, 1, 10, tzinfo=UTC)
    times = {0: began - timedelta(hours=1), 1: began + timedelta(hours=1)}
    turns = [SourceTurn(at, "user", f"text {at}") for at in range(3)]
    asked = [
        [
            request.asked_at
            for request in asked_by_user(SourceSession(0, "s", time, turns), "every-step", "s", "x", 0, times)
        ]
        for time in (began, None)
    ]
    assert asked == [[began, times[1], began], [times[0], times[1], None]]


def test_a_step_is_asked_for_after_each_step_with_the_task_and_all_since_the_newest_step() -> None:
    session = a_session(0, ["user", "assistant", "user", "blank", "assistant"])
    made = list(asked_by_step(session, "the task", "every-step", "run", "x"))
    assert [(request.request_id, request.mode, request.text) for request in made] == [
        ("run#s2", "agent", "the task\n\nassistant 0.1\n\nuser 0.2"),
        ("run#s4", "agent", "the task\n\nassistant 0.4"),
    ]
    assert [request.seen.turn for request in made if request.seen] == [2, 4]
    assert not any(request.seen_before for request in made)
    (last,) = asked_by_step(session, "the task", "last", "run", "x")
    assert last.request_id == "run#s4"
    assert list(asked_by_step(a_session(0, ["user"]), "the task", "last", "run", "x")) == []


def test_while_a_step_is_under_way_the_next_one_is_not_asked_for() -> None:
    session = a_session(0, ["user", "assistant", "user", "assistant"])
    made = asked_by_step(session, "the task", "every-step", "run", "x", under_way=True)
    assert [request.request_id for request in made] == ["run#s2"]


def test_of_a_long_step_the_beginning_and_the_end_are_asked_with() -> None:
    session = SourceSession(0, None, None, [SourceTurn(0, "assistant", "$ make\n=>\n" + "x" * 50_000 + "\nError 2")])
    (made,) = asked_by_step(session, "t" * 50_000, "last", "run", "x")
    task, step = made.text.split("\n\n")
    assert len(task) == TASK_CHARACTERS
    assert step.startswith("$ make\n=>\nxx")
    assert step.endswith("xx\nError 2")
    assert len(step) <= STEP_CHARACTERS + len("\n[...]\n")


@settings(deadline=None)
@given(roles=ROLES)
def test_a_step_is_asked_for_of_all_that_came_before_it_and_of_nothing_else(words: Any, roles: Any) -> None:
    staging = Staging("test")
    staging.begin("f")
    history = SourceHistory("h", 0, [a_session(0, roles)])
    history.requests += asked_by_step(history.sessions[0], "task", "every-step", "h", "x")
    staging.add(history)
    settled = settle([staging.take()], 0, SOURCES.empty_table(), REQUESTS.empty_table(), LABELS.empty_table(), words)
    assert settled.quarantine.num_rows == 0
    stored = settled.turns["role"].to_pylist()
    steps = [at for at, role in enumerate(stored) if role == "assistant"]
    assert sorted(settled.requests["seen_turn"].to_pylist()) == [at - 1 for at in [*steps[1:], len(stored)] if steps]


def test_a_turn_of_which_sanitising_leaves_nothing_is_not_asked_about() -> None:
    turns = [SourceTurn(0, "user", "\x00"), SourceTurn(1, "assistant", "\x00 ")]
    session = SourceSession(0, None, None, turns)
    assert list(asked_by_user(session, "last", "h", "x")) == []
    assert list(asked_by_step(session, "task", "last", "h", "x")) == []

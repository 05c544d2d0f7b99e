"""Requests that are made of a log see exactly what came before them."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.ingest.asking import asked_by_step, asked_by_user
from pipeline.ingest.settle import settle
from pipeline.ingest.source import SourceHistory, SourceSession, SourceTurn
from pipeline.ingest.staging import Staging
from pipeline.schemas import REQUESTS, SOURCES

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
    settled = settle([staging.take()], 0, SOURCES.empty_table(), REQUESTS.empty_table(), words)
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


def test_a_step_is_asked_for_after_each_step_with_the_task_and_the_newest_step() -> None:
    session = a_session(0, ["user", "assistant", "tool", "assistant"])
    made = list(asked_by_step(session, "the task", "every-step", "run", "x"))
    assert [(request.request_id, request.mode, request.text) for request in made] == [
        ("run#s1", "agent", "the task\n\nassistant 0.1"),
        ("run#s3", "agent", "the task\n\nassistant 0.3"),
    ]
    assert [request.seen.turn for request in made if request.seen] == [1, 3]
    assert not any(request.seen_before for request in made)
    (last,) = asked_by_step(session, "the task", "last", "run", "x")
    assert last.request_id == "run#s3"

"""The messages of a day are a session, and a log that grows adds to its end only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest.codes import Code
from pipeline.ingest.days import add_days, by_day
from pipeline.ingest.messages import MessageError
from pipeline.ingest.settle import settle
from pipeline.ingest.source import SourceHistory, SourceTurn
from pipeline.ingest.staging import Staging
from pipeline.ingest.times import TimeError
from pipeline.schemas import LABELS, REQUESTS, SOURCES

START = datetime(2024, 4, 1, tzinfo=UTC)
Message = tuple[str, int | None]
"""A text and the hour at which it was said, counted from START."""


def read(position: int, message: object) -> tuple[SourceTurn, datetime | None]:
    assert isinstance(message, tuple)
    text, hour = message
    if text == "bad":
        raise MessageError("bad turn")
    if text == "late":
        raise TimeError("bad time")
    return SourceTurn(position, "user", text), None if hour is None else START + timedelta(hours=hour)


def days(messages: list[Message]) -> list[tuple[str | None, datetime | None, list[str]]]:
    history = SourceHistory("h", 0)
    add_days(history, messages, "", read)
    assert [session.position for session in history.sessions] == list(range(len(history.sessions)))
    return [(session.name, session.time, [turn.text for turn in session.turns]) for session in history.sessions]


def at(hour: int) -> datetime:
    return START + timedelta(hours=hour)


@pytest.mark.flash
def test_a_session_is_a_day_at_the_time_of_its_first_message() -> None:
    assert days([("a", 8), ("b", 23), ("c", 24), ("d", 90)]) == [
        ("2024-04-01", at(8), ["a", "b"]),
        ("2024-04-02", at(24), ["c"]),
        ("2024-04-04", at(90), ["d"]),
    ]


@pytest.mark.flash
def test_a_message_without_a_time_belongs_to_the_day_before_it_or_to_none() -> None:
    assert days([("a", None), ("b", None), ("c", 8), ("d", None), ("e", 25)]) == [
        (None, None, ["a", "b"]),
        ("2024-04-01", at(8), ["c", "d"]),
        ("2024-04-02", at(25), ["e"]),
    ]


@pytest.mark.flash
def test_days_come_in_their_order_and_messages_in_that_of_the_log() -> None:
    assert days([("b", 30), ("a", 9), ("c", 26), ("d", 8)]) == [
        ("2024-04-01", at(9), ["a", "d"]),
        ("2024-04-02", at(30), ["b", "c"]),
    ]


@pytest.mark.flash
def test_in_a_log_whose_order_is_sure_no_message_is_earlier_than_one_before_it() -> None:
    def told(messages: list[Message]) -> tuple[list[tuple[str | None, list[str]]], list[datetime]]:
        grouped, times = by_day(SourceHistory("h", 0), messages, "", read, forward=True)
        found = [(day and day.isoformat(), [turn.text for turn in turns]) for day, turns in grouped.items()]
        return found, list(times.values())

    mixed: list[Message] = [("z", None), ("b", 30), ("a", 9), ("u", None), ("c", 26), ("d", 48)]
    assert told(mixed) == (
        [(None, ["z"]), ("2024-04-02", ["b", "a", "u", "c"]), ("2024-04-03", ["d"])],
        [at(30), at(30), at(30), at(48)],
    )


@pytest.mark.flash
def test_what_is_no_turn_belongs_to_no_day_and_tells_no_time() -> None:
    def some(position: int, message: object) -> tuple[SourceTurn | None, datetime | None]:
        turn, time = read(position, message)
        return (None if turn.text == "hidden" else turn), time

    messages = [("hidden", 1), ("a", 8), ("hidden", 30), ("b", None), ("hidden", 60)]
    grouped, times = by_day(SourceHistory("h", 0), messages, "", some)
    assert [[turn.text for turn in turns] for turns in grouped.values()] == [["a", "b"]]
    assert times == {1: at(8)}


@pytest.mark.flash
def test_only_the_message_that_cannot_be_read_is_lost() -> None:
    history = SourceHistory("h", 0)
    times = add_days(history, [("a", 8), ("bad", 9), ("late", 10), ("b", 11)], "item 3, ", read)
    assert [(row.code, row.place, row.weight) for row in history.refused] == [
        (Code.BAD_TURN, "item 3, turn 1", 1),
        (Code.BAD_TIME, "item 3, turn 2", 1),
    ]
    assert times == {0: at(8), 3: at(11)}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 200)), max_size=12), st.integers(0, 12))
def test_a_log_that_grows_keeps_its_sessions_and_only_adds_to_them(messages: list[Message], cut: int) -> None:
    grown = {name: (time, texts) for name, time, texts in days(messages)}
    for name, time, texts in days(messages[:cut]):
        assert grown[name][0] == time
        assert grown[name][1][: len(texts)] == texts


@pytest.mark.flash
def test_a_delivery_that_begins_in_the_middle_of_a_stored_day_stores_nothing_twice(words: Any) -> None:
    def told(texts: list[tuple[str, int]]) -> SourceHistory:
        history = SourceHistory("h", 0)
        add_days(
            history,
            texts,
            "",
            lambda position, message: (
                SourceTurn(position, "user", message[0], name=message[0]),
                datetime(2024, 4, 1, message[1], tzinfo=UTC),
            ),
        )
        return history

    staging = Staging("test")
    staging.add(told([("a", 8), ("b", 9), ("c", 10)]))
    nothing = (SOURCES.empty_table(), REQUESTS.empty_table(), LABELS.empty_table())
    first = settle([staging.take()], 0, *nothing, words)
    staging.add(told([("c", 10), ("d", 11)]))
    second = settle([staging.take()], 1, first.sources, *nothing[1:], words)
    assert second.turns["text"].to_pylist() == ["d"]
    assert second.sources["continues"].to_pylist() == [0]

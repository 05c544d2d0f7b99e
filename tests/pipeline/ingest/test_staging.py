"""Staging sanitises every text once, drops what is blank, and gives keys that hold when a history comes again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from pipeline.ingest.arrival import Arrival
from pipeline.ingest.codes import Code
from pipeline.ingest.source import Refused, SourceHistory, SourceRequest, SourceSession, SourceTurn, TurnReference
from pipeline.ingest.staging import LONGEST_ID, Staging

MONDAY = datetime(2026, 11, 30, 9, tzinfo=UTC)


def staged(*histories: SourceHistory) -> Arrival:
    staging = Staging("test")
    for history in histories:
        staging.add(history)
    return staging.take()


def session(*texts: str, position: int = 0, name: str | None = None, time: datetime | None = None) -> SourceSession:
    return SourceSession(position, name, time, [SourceTurn(at, "user", text) for at, text in enumerate(texts)])


def session_keys(*sessions: SourceSession) -> list[str]:
    return list(dict.fromkeys(staged(SourceHistory("h", 0, list(sessions))).turns["session_key"].to_pylist()))


@pytest.mark.flash
def test_every_text_is_sanitised_and_the_changes_are_counted() -> None:
    turn = SourceTurn(0, "us\x00er", "a\ud800b <|endoftext|> 👩‍👩‍👧 שלום", "A\udfff", "t\x00")
    request = SourceRequest(0, "r\ud800", "?\x00", answer="\ud83d\ude00", evidence=(TurnReference(0, 0, "p\ud800"),))
    history = SourceHistory("h\ud800", 3, [SourceSession(0, "s\x00", MONDAY, [turn])], [request])
    arrival = staged(history)
    (row,) = arrival.turns.to_pylist()
    assert (row["history_id"], row["role"], row["speaker"], row["source_session"], row["source_turn"]) == (
        "h\\ud800",
        "user",
        "A\ufffd",
        "s\\x00",
        "t\\x00",
    )
    assert row["text"] == "a\ufffdb <|endoftext|> 👩‍👩‍👧 שלום"
    assert arrival.requests["answer"].to_pylist() == ["😀"]
    assert arrival.citations["request_id"].to_pylist() == ["r\\ud800"]
    assert arrival.counts["sanitised_texts"] == 10


@pytest.mark.flash
def test_ids_that_were_cut_in_the_middle_of_a_character_stay_apart_wherever_they_stand() -> None:
    cut = ["a\ud83d", "a\ud83e", "a\x00", "a", "\ud800", "\x00"]
    staging = Staging("test")
    for item, name in enumerate(cut):
        staging.begin(name)
        turns = [SourceTurn(at, "user", "x", name=turn) for at, turn in enumerate(cut)]
        sessions = [SourceSession(at, session, None, turns) for at, session in enumerate(cut)]
        evidence = tuple(TurnReference(session, turn, "p") for session in cut for turn in cut)
        requests = [SourceRequest(at, request, "?", evidence=evidence) for at, request in enumerate(cut)]
        staging.add(SourceHistory(name, item, sessions, requests))
    arrival = staging.take()
    for table, columns in (
        (arrival.turns, ["history_id", "source_session", "source_turn"]),
        (arrival.turns, ["file", "session_key", "turn_key"]),
        (arrival.requests, ["history_id", "request_id"]),
        (arrival.citations, ["history_id", "request_id", "session_key", "turn_key"]),
    ):
        assert len(pl.DataFrame(table).unique(columns)) == len(cut) ** len(columns)
    assert arrival.quarantine.num_rows == 0


@pytest.mark.flash
def test_a_turn_of_nul_alone_is_blank() -> None:
    arrival = staged(SourceHistory("h", 0, [session("\x00\x00", "x"), session(" ", position=1)]))
    assert arrival.turns["text"].to_pylist() == ["x"]
    assert (arrival.counts["blank_turns"], arrival.counts["empty_sessions"]) == (2, 1)


@pytest.mark.flash
def test_a_session_is_told_by_name_and_time_or_else_by_position_and_time() -> None:
    named = session("x", position=0, name="s", time=MONDAY)
    assert session_keys(named) == session_keys(session("other text", position=4, name="s", time=MONDAY))
    assert session_keys(named) != session_keys(session("x", position=0, name="s"))
    assert session_keys(named) != session_keys(session("x", position=0, name="t", time=MONDAY))
    nameless = session("x", position=2, time=MONDAY)
    assert session_keys(nameless) == session_keys(session("y", position=2, time=MONDAY))
    assert session_keys(nameless) != session_keys(session("x", position=1, time=MONDAY))
    assert session_keys(session("x", position=2)) != session_keys(session("x", position=0, name="2"))


@pytest.mark.flash
def test_the_days_of_a_conversation_are_parts_of_one_session() -> None:
    def day(at: int, name: str = "c", began: datetime | None = MONDAY, alone: bool = False) -> SourceSession:
        time = MONDAY + timedelta(days=at)
        return SourceSession(at, name, time, session("x").turns, one_of_its_name=alone, conversation_time=began)

    begun = session_keys(session("x", name="c", time=MONDAY))
    assert session_keys(day(0)) == session_keys(day(3)) == begun
    assert session_keys(day(0, "d")) != begun
    assert session_keys(day(0, began=MONDAY + timedelta(1))) != begun
    assert session_keys(day(0, began=None, alone=True)) == session_keys(session("x", name="c"))


@pytest.mark.flash
def test_sessions_and_turns_that_are_called_alike_are_told_by_occurrence() -> None:
    first, second = session("x", name="s"), session("x", position=1, name="s")
    assert len(session_keys(first, second)) == 2
    assert session_keys(first, second)[0] == session_keys(first)[0]
    turns = [SourceTurn(at, "user", "ok", name="t") for at in range(2)]
    arrival = staged(SourceHistory("h", 0, [SourceSession(0, None, None, turns)]))
    assert arrival.turns["turn_key"].to_pylist() == ["i0:t", "i1:t"]


@pytest.mark.flash
def test_the_digest_is_of_role_speaker_and_text() -> None:
    turns = [
        SourceTurn(0, "user", "x"),
        SourceTurn(1, "user", "x"),
        SourceTurn(2, "assistant", "x"),
        SourceTurn(3, "user", "x", "Ada"),
        SourceTurn(4, "user", "y"),
    ]
    digests = staged(SourceHistory("h", 0, [SourceSession(0, None, None, turns)])).turns["content_digest"].to_pylist()
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4


@pytest.mark.flash
def test_a_reference_that_may_mean_two_turns_is_a_note_and_one_elsewhere_is_left_to_settling() -> None:
    evidence = (
        TurnReference("s", 0, "two sessions"),
        TurnReference("t", "m", "two turns"),
        TurnReference("u", "m", "elsewhere"),
        TurnReference("t", "n", "elsewhere in the session"),
        TurnReference(2, 0, "here"),
        TurnReference(9, 0, "nowhere"),
    )
    twins = SourceSession(2, "t", None, [SourceTurn(at, "user", "x", name="m") for at in range(2)])
    history = SourceHistory("h", 0, [session("x", name="s"), session("x", position=1, name="s"), twins])
    history.requests.append(SourceRequest(0, "r", "?", evidence=evidence))
    arrival = staged(history)
    assert [row["place"] for row in arrival.quarantine.to_pylist()] == ["two sessions", "two turns", "nowhere"]
    assert arrival.quarantine["weight"].to_pylist() == [0, 0, 0]
    cited = [(row["place"], row["source_session"], row["turn_key"]) for row in arrival.citations.to_pylist()]
    assert cited == [
        ("elsewhere", "u", "i0:m"),
        ("elsewhere in the session", "t", "i0:n"),
        ("here", None, "i0:m"),
    ]


@pytest.mark.flash
def test_of_sessions_that_are_called_alike_a_turn_is_found_by_an_id_that_one_of_them_has_and_by_no_position() -> None:
    told = {0: ("a", "both"), 1: ("b", "both"), 2: ("c", "c")}
    sessions = [
        SourceSession(at, "s", MONDAY + timedelta(days=at), [SourceTurn(at, "user", "x", name=name) for name in names])
        for at, names in told.items()
    ]
    cited = ("a", "b", "c", "both", 0, 2, "elsewhere")
    evidence = tuple(TurnReference("s", turn, str(turn)) for turn in cited)
    arrival = staged(SourceHistory("h", 0, sessions, [SourceRequest(0, "r", "?", evidence=evidence)]))
    keys = dict(zip(arrival.turns["turn_key"].to_pylist(), arrival.turns["session_key"].to_pylist(), strict=True))
    found = [(row["place"], row["session_key"], row["turn_key"]) for row in arrival.citations.to_pylist()]
    assert found == [("a", keys["i0:a"], "i0:a"), ("b", keys["i0:b"], "i0:b"), ("elsewhere", None, "i0:elsewhere")]
    assert {row["place"]: row["reason"] for row in arrival.quarantine.to_pylist()} == {
        "c": "evidence: 2 turns of the session are called 'c'",
        "both": "evidence: 2 sessions are called 's', and have a turn 'both'",
        "0": "evidence: 3 sessions are called 's'",
        "2": "evidence: 3 sessions are called 's'",
    }


@pytest.mark.flash
def test_an_id_without_end_costs_what_bears_it_and_stands_in_no_row() -> None:
    endless, asked = "x" * (LONGEST_ID + 1), SourceRequest(0, "r", "?")
    nameless = SourceHistory(endless, 0, [session("a", "b")], [asked], [Refused(Code.BAD_TURN, "p", "r", 1, endless)])
    arrival = staged(
        nameless, SourceHistory("h", 1, [session("c"), session("d", "e", position=1, name=endless)], [asked])
    )
    assert arrival.turns["text"].to_pylist() == ["c"]
    assert arrival.requests["history_id"].to_pylist() == ["h"]
    refused = [tuple(row[key] for key in ("history_id", "code", "weight")) for row in arrival.quarantine.to_pylist()]
    assert refused == [(None, "bad_turn", 1), (None, "wrong_shape", 3), ("h", "bad_session", 2)]
    asked_endlessly = staged(SourceHistory("h", 0, [], [SourceRequest(0, endless, "?")]))
    assert asked_endlessly.quarantine["code"].to_pylist() == ["bad_request"]
    assert asked_endlessly.requests.num_rows == 0


@pytest.mark.flash
def test_what_a_reader_refused_is_kept_with_its_reason() -> None:
    staging = Staging("test")
    staging.refuse(Refused(Code.BAD_TURN, "item 3\ud800", "because", 7))
    (row,) = staging.take().quarantine.to_pylist()
    assert (row["place"], row["reason"], row["weight"], row["origin"], row["history_id"]) == (
        "item 3\ufffd",
        "because",
        7,
        "row",
        None,
    )

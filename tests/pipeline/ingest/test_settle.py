"""Settling: nothing is lost, nothing is stored twice, and labels point at what is stored."""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime

import pytest
from settling import SCHEMAS, Store, ask, chat, keys

from pipeline.ingest import settle as module
from pipeline.ingest.arrival import Arrival
from pipeline.ingest.source import SourceHistory, SourceRequest, SourceSession, SourceTurn, TurnReference
from pipeline.ingest.staging import Staging


@pytest.mark.flash
def test_session_index_holds_the_batch_and_the_position_in_source_order() -> None:
    store = Store()
    store.add(SourceHistory("a", 0, [chat(0, "x")]))
    new = store.add(SourceHistory("b", 0, [chat(5, "1", "2"), chat(3, "0")]), SourceHistory("a", 1, [chat(1, "y")]))
    assert [(row["history_id"], row["text"]) for row in new.turns.to_pylist()] == [
        ("a", "y"),
        ("b", "0"),
        ("b", "1"),
        ("b", "2"),
    ]
    assert keys(new.turns.to_pylist()) == [(1 << 20, 0), (1 << 20, 0), ((1 << 20) + 1, 0), ((1 << 20) + 1, 1)]
    assert new.turns["n_tokens"].to_pylist() == [1, 1, 1, 1]
    assert keys(new.sources.to_pylist()) == keys(new.turns.to_pylist())


@pytest.mark.flash
def test_the_same_delivery_again_stores_nothing() -> None:
    store = Store()
    history = SourceHistory("h", 0, [chat(0, "a", "b"), chat(1, "c")], [ask(0, "?", (0, 1))])
    assert store.add(history).counts["turns"] == 3
    again = store.add(history)
    assert [getattr(again, name).num_rows for name in SCHEMAS] == [0] * 5
    assert (again.counts["repeated_turns"], again.counts["repeated_requests"]) == (3, 1)


@pytest.mark.flash
def test_new_and_edited_turns_form_a_continuation_that_names_the_first_part() -> None:
    store = Store()
    store.add(SourceHistory("h", 0, [chat(0, "z"), chat(1, "a", "b", name="s")]))
    store.add(SourceHistory("h", 0, [chat(1, "a", "b, edited", "c", name="s")]))
    last = store.add(SourceHistory("h", 0, [chat(0, "a", "b, edited", "c", "d", name="s"), chat(1, "new")]))
    assert [(row["session_index"], row["turn_index"], row["text"]) for row in store.rows("turns")] == [
        (0, 0, "z"),
        (1, 0, "a"),
        (1, 1, "b"),
        (1 << 20, 0, "b, edited"),
        (1 << 20, 1, "c"),
        (2 << 20, 0, "d"),
        ((2 << 20) + 1, 0, "new"),
    ]
    assert [row["continues"] for row in store.rows("sources")] == [None, None, None, 1, 1, 1, None]
    assert last.counts["continuation_sessions"] == 1


@pytest.mark.flash
def test_two_lines_of_one_history_in_a_batch_add_up() -> None:
    store = Store()
    new = store.add(
        SourceHistory("h", 0, [chat(0, "a", name="s"), chat(1, "t", name="t")], [ask(0, "?", (0, 0))]),
        SourceHistory("h", 7, [chat(0, "a", "b", name="s"), chat(1, "u", name="u")], [ask(1, "!", (0, 0), (0, 1))]),
    )
    assert list(zip(keys(new.turns.to_pylist()), new.turns["text"].to_pylist(), strict=True)) == [
        ((0, 0), "a"),
        ((1, 0), "t"),
        ((2, 0), "b"),
        ((3, 0), "u"),
    ]
    assert new.sources["continues"].to_pylist() == [None, None, 0, None]
    assert [(row["request_id"], *keys([row])[0]) for row in new.labels.to_pylist()] == [
        ("r0", 0, 0),
        ("r1", 0, 0),
        ("r1", 2, 0),
    ]


@pytest.mark.flash
def test_labels_point_at_the_stored_copy_of_what_was_delivered() -> None:
    store = Store()
    store.add(SourceHistory("h", 0, [chat(0, "a", "b", name="s")]))
    store.add(SourceHistory("h", 0, [chat(0, "a", "B", name="s")], [ask(0, "?", (0, 0), (0, 1), (0, 0))]))
    assert keys(store.rows("labels")) == [(0, 0), (1 << 20, 0)]
    store.add(SourceHistory("h", 0, [chat(0, "a", "b", name="s")], [ask(1, "?", (0, 1))]))
    assert keys(store.rows("labels"))[-1] == (0, 1)


@pytest.mark.flash
def test_a_request_may_come_without_its_history_and_name_what_is_stored() -> None:
    store = Store()
    store.add(
        SourceHistory("h", 0, [chat(0, "a", "b", name="s"), chat(1, "x", name="twin"), chat(2, "y", name="twin")])
    )
    seen = TurnReference("s", 0, "seen")
    requests = [ask(0, "?", ("s", 1), ("s", 9), ("twin", 0), mode="agent", seen=seen)]
    requests.append(ask(1, "?", mode="agent", seen=TurnReference("nowhere", 0, "seen")))
    new = store.add(SourceHistory("h", 0, [], requests), SourceHistory("other", 1, [], [ask(0, "?", ("s", 1))]))
    assert keys(new.labels.to_pylist()) == [(0, 1)]
    assert [(row["history_id"], row["seen_session"], row["seen_turn"]) for row in new.requests.to_pylist()] == [
        ("h", 0, 0),
        ("other", None, None),
    ]
    assert [
        (row["history_id"], row["request_id"], row["place"], row["weight"]) for row in new.quarantine.to_pylist()
    ] == [
        ("h", "r0", "place s 9", 0),
        ("h", "r0", "place twin 0", 0),
        ("h", "r1", "item 0, request 1", 1),
        ("other", "r0", "item 1, request 0", 0),  # no turn of its history is stored
        ("other", "r0", "place s 1", 0),
    ]


@pytest.mark.flash
def test_of_stored_sessions_that_are_called_alike_a_turn_is_found_by_an_id_that_one_of_them_has() -> None:
    store = Store()
    named = [[SourceTurn(at, "user", name, name=name) for at, name in enumerate(names)] for names in ("ab", "cb")]
    days = [datetime(2026, 3, day, tzinfo=UTC) for day in (1, 2)]
    store.add(
        SourceHistory("h", 0, [SourceSession(at, "s", days[at], turns) for at, turns in enumerate(named)]),
        SourceHistory("h", 1, [SourceSession(at, "t", days[at], chat(0, *"xyz"[: at + 2]).turns) for at in range(2)]),
    )
    new = store.add(SourceHistory("h", 0, [], [ask(0, "?", ("s", "a"), ("s", "c"), ("s", "b"), ("t", 1), ("t", 2))]))
    assert keys(new.labels.to_pylist()) == [(0, 0), (1, 0)]
    assert new.quarantine["place"].to_pylist() == ["place s b", "place t 1", "place t 2"]


@pytest.mark.flash
def test_a_request_that_comes_again_brings_the_labels_that_could_not_be_made_before_and_no_other() -> None:
    store = Store()
    told = SourceSession(0, "a", None, [SourceTurn(0, "user", "I moved to Rome")])
    more = SourceSession(1, "b", None, [SourceTurn(0, "user", "and bought a kite")])
    asked = SourceRequest(0, "q", "?", evidence=(TurnReference("a", 0, "x"), TurnReference("b", 0, "y")))
    store.add(SourceHistory("h", 0, [told], [asked]))
    later = store.add(SourceHistory("h", 0, [told, more], [asked]))
    assert later.requests.num_rows == 0
    assert keys(later.labels.to_pylist()) == [(1 << 20, 0)]
    edited = SourceSession(0, "a", None, [SourceTurn(0, "user", "I moved to Roma")])
    assert store.add(SourceHistory("h", 0, [edited, more], [asked])).labels.num_rows == 0


@pytest.mark.flash
def test_a_request_id_that_is_taken_by_other_content_is_quarantined_and_brings_no_labels() -> None:
    store = Store()
    history = [chat(0, "a", "b")]
    new = store.add(
        SourceHistory("h", 0, history, [ask(0, "first", (0, 0))]),
        SourceHistory("h", 1, history, [ask(0, "second", (0, 1))]),
        SourceHistory("h", 2, history, [ask(0, "first", (0, 1))]),
        SourceHistory("g", 3, history, [ask(0, "second", (0, 1))]),
    )
    assert [(row["history_id"], row["text"]) for row in new.requests.to_pylist()] == [("g", "second"), ("h", "first")]
    assert [(row["history_id"], *keys([row])[0]) for row in new.labels.to_pylist()] == [
        ("g", 0, 1),
        ("h", 0, 0),
        ("h", 0, 1),  # the same request, delivered once more with other evidence
    ]
    assert [(row["request_id"], row["place"], row["weight"]) for row in new.quarantine.to_pylist()] == [
        ("r0", "item 1, request 0", 1)
    ]
    later = store.add(SourceHistory("h", 0, history, [ask(0, "first", answer="changed")]))
    assert (later.requests.num_rows, later.labels.num_rows, later.quarantine.num_rows) == (0, 0, 1)


@pytest.mark.flash
def test_a_request_of_a_history_without_a_stored_turn_is_kept_and_noted_and_one_over_stored_turns_is_not() -> None:
    store = Store()
    blank = SourceSession(0, "s", None, [SourceTurn(0, "user", " ")])
    new = store.add(
        SourceHistory("misspelt", 0, [blank], [ask(0, "over a blank turn"), ask(1, "and again")]),
        SourceHistory("h", 1, [chat(0, "a")], [ask(0, "over a turn of this delivery")]),
    )
    assert new.requests.num_rows == 3
    noted = [(row["history_id"], row["request_id"], row["place"], row["code"], row["weight"])
             for row in new.quarantine.to_pylist()]  # fmt: skip
    assert noted == [("misspelt", f"r{number}", f"item 0, request {number}", "no_turns", 0) for number in (0, 1)]
    later = store.add(SourceHistory("h", 0, [], [ask(1, "over a turn of an earlier one")]))
    assert (later.requests.num_rows, later.quarantine.num_rows) == (1, 0)


@pytest.mark.flash
def test_a_last_turn_that_a_request_names_is_its_content_and_a_first_that_it_does_not_see_is_not() -> None:
    store = Store()
    history = [chat(0, "a", "b", "c", name="s")]
    for seen, before in ((1, False), (0, True)):
        asked = ask(0, "?", seen=TurnReference(0, seen, "seen"), seen_before=before)
        store.add(SourceHistory(f"h{before}", 0, history, [asked]))
    again = [
        store.add(SourceHistory(f"h{before}", 0, history, [ask(0, "?", seen=seen, seen_before=before)]))
        for before in (False, True)
        for seen in (None, TurnReference(0, 2, "seen"))
    ]
    assert [new.quarantine["code"].to_pylist() for new in again] == [["conflict"], ["conflict"], [], []]
    assert [new.counts["repeated_requests"] for new in again] == [0, 0, 1, 1]


@pytest.mark.flash
def test_what_settling_refuses_is_placed_in_its_own_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SESSIONS", 1)
    staging = Staging("test")
    for file, text in (("a", "first"), ("b", "second")):
        staging.begin(file)
        staging.add(SourceHistory(file, 0, [chat(0, "x")]))
        staging.add(SourceHistory("h", 1, [chat(0, text)], [ask(0, text)]))
    new = Store().add_arrivals(staging.take())
    assert [(row["file"], row["place"], row["code"]) for row in new.quarantine.to_pylist()] == [
        ("b", "item 1, session 0 and what follows", "no_room"),
        ("b", "item 1, request 0", "conflict"),
    ]


@pytest.mark.flash
def test_sessions_beyond_the_room_of_a_batch_are_quarantined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SESSIONS", 3)
    sessions = [chat(at, "x", "y") for at in range(5)]
    new = Store().add(
        SourceHistory("h", 0, sessions, [ask(0, "?", (1, 0), (4, 0))]), SourceHistory("g", 1, sessions[:3])
    )
    assert Counter(new.turns["history_id"].to_pylist()) == {"h": 6, "g": 6}
    assert keys(new.labels.to_pylist()) == [(1, 0)]
    refused = [(row["history_id"], row["place"], row["weight"]) for row in new.quarantine.to_pylist()]
    assert ("h", "item 0, session 3 and what follows", 4) in refused
    assert ("h", "place 4 0", 0) in refused


@pytest.mark.flash
def test_an_empty_arrival_gives_empty_tables_of_the_exact_schemas() -> None:
    new = Store().add_arrivals(Arrival.empty())
    assert [getattr(new, name).num_rows for name in SCHEMAS] == [0] * 5


def test_a_history_of_a_hundred_thousand_turns_settles_in_seconds() -> None:
    sessions = [chat(at, *(f"turn {at} {turn}" for turn in range(100))) for at in range(1_000)]
    history = SourceHistory("h", 0, sessions, [ask(0, "?", (999, 99))])
    store = Store()
    begun = time.perf_counter()
    assert store.add(history).counts["turns"] == 100_000
    assert store.add(history).counts["repeated_turns"] == 100_000
    assert time.perf_counter() - begun < 30
    assert keys(store.rows("labels")) == [(999, 99)]

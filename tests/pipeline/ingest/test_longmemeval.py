"""LongMemEval: what its files hold, and what they hold wrongly."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import arrivals
from pipeline.ingest.source import Document


def turn(text: Any, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": text, **more}


def an_item(**changed: Any) -> dict[str, Any]:
    item = {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "Where?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "answer": "Rome",
        "answer_session_ids": ["answer_x"],
        "haystack_session_ids": ["noise", "answer_x"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
        "haystack_sessions": [
            [turn("hello"), turn("hi", "assistant")],
            [turn("I moved to Rome", has_answer=True), turn("Rome!", "assistant", has_answer=True)],
        ],
    }
    return {key: value for key, value in {**item, **changed}.items() if value is not ...}


def rows(table: Any) -> list[dict[str, Any]]:
    return table.to_pylist()


@pytest.mark.flash
def test_an_item_becomes_a_history_with_one_request_and_evidence_of_both_roles(deliver: Any, settle_first: Any) -> None:
    settled = settle_first(deliver("longmemeval", [an_item()]))
    assert [(row["session_index"], row["turn_index"], row["role"], row["text"]) for row in rows(settled.turns)] == [
        (0, 0, "user", "hello"),
        (0, 1, "assistant", "hi"),
        (1, 0, "user", "I moved to Rome"),
        (1, 1, "assistant", "Rome!"),
    ]
    assert settled.turns["speaker"].null_count == 4
    assert settled.turns["session_time"].to_pylist()[0] == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
    (request,) = rows(settled.requests)
    assert request == {
        "request_id": "q1",
        "history_id": "q1",
        "mode": "reader",
        "text": "Where?",
        "asked_at": datetime(2023, 5, 30, 23, 40, tzinfo=UTC),
        "seen_session": None,
        "seen_turn": None,
        "category": "multi-session",
        "answer": "Rome",
        "adversarial": False,
    }
    assert [(row["session_index"], row["turn_index"]) for row in rows(settled.labels)] == [(1, 0), (1, 1)]


@pytest.mark.flash
def test_session_ids_reach_the_sources_and_no_other_table(deliver: Any, settle_first: Any) -> None:
    settled = settle_first(deliver("longmemeval", [an_item()]))
    assert settled.sources["source_session"].to_pylist() == ["noise", "noise", "answer_x", "answer_x"]
    for table in (settled.turns, settled.requests, settled.labels):
        assert "answer_x" not in str(table.to_pydict())


@pytest.mark.flash
def test_an_answer_session_without_flags_gives_no_labels(deliver: Any, settle_first: Any) -> None:
    sessions = [[turn("hello")], [turn("I moved to Rome")]]
    settled = settle_first(deliver("longmemeval", [an_item(haystack_sessions=sessions)]))
    assert (settled.requests.num_rows, settled.labels.num_rows, settled.quarantine.num_rows) == (1, 0, 0)


@pytest.mark.flash
def test_an_abstention_is_adversarial_and_has_no_evidence(deliver: Any, settle_first: Any) -> None:
    settled = settle_first(deliver("longmemeval", [an_item(question_id="q1_abs")]))
    assert settled.requests["adversarial"].to_pylist() == [True]
    assert settled.labels.num_rows == 0


@pytest.mark.flash
@pytest.mark.parametrize(("answer", "text"), [(3, "3"), (2.5, "2.5"), (None, None), (["a", "é"], '["a", "é"]')])
def test_an_answer_is_text_or_null(deliver: Any, answer: Any, text: str | None) -> None:
    (arrival,) = deliver("longmemeval", [an_item(answer=answer)])
    assert arrival.requests["answer"].to_pylist() == [text]


@pytest.mark.flash
def test_content_may_be_null_or_parts_and_blank_turns_are_dropped_and_counted(deliver: Any) -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {}}, "two"]
    sessions = [[turn(None), turn(parts), turn("  \n"), turn([])], []]
    (arrival,) = deliver("longmemeval", [an_item(haystack_sessions=sessions)])
    assert arrival.turns["text"].to_pylist() == ["one\ntwo"]
    assert arrival.turns["turn_position"].to_pylist() == [1]
    assert (arrival.counts["blank_turns"], arrival.counts["empty_sessions"]) == (3, 1)
    assert arrival.quarantine.num_rows == 0


@pytest.mark.flash
def test_a_session_id_that_repeats_does_not_merge_sessions(deliver: Any, settle_first: Any) -> None:
    for dates in (["2023/05/20 (Sat) 02:21"] * 2, ["2023/05/20 (Sat) 02:21", "2023/06/20 (Tue) 02:21"]):
        item = an_item(haystack_session_ids=["same", "same"], haystack_dates=dates)
        item["haystack_sessions"][0] = item["haystack_sessions"][1]
        settled = settle_first(deliver("longmemeval", [item]))
        assert settled.turns["session_index"].to_pylist() == [0, 0, 1, 1]
        assert settled.sources["continues"].null_count == 4
        assert settled.labels.num_rows == 4


@pytest.mark.flash
@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"haystack_dates": ["2023/05/20 (Sat) 02:21"]}, "haystack_dates holds 1 values, but there are 2 sessions"),
        ({"haystack_session_ids": "x"}, "haystack_session_ids holds no list"),
        ({"haystack_sessions": {}}, "haystack_sessions is not a list"),
        ({"question": ...}, "question is missing"),
        ({"question_id": None}, "question_id is missing"),
        ({"question": ["a?", "b?"], "question_id": ["a"]}, "holds 1 values, but there are 2 questions"),
        ({"question": ["a?", "b?"], "question_id": ["a", "a"]}, "names two questions alike"),
        ({"question": ["a?", "b?"], "answer": ["a"]}, "answer holds 1 values"),
    ],
)
def test_an_item_that_does_not_fit_together_is_quarantined_whole(
    deliver: Any, changed: dict[str, Any], reason: str
) -> None:
    (arrival,) = deliver("longmemeval", [an_item(**changed), an_item(question_id="good")])
    (refused,) = rows(arrival.quarantine)
    assert reason in refused["reason"]
    assert refused["place"] == "item 0"
    assert refused["weight"] >= 1
    assert set(arrival.turns["history_id"].to_pylist()) == {"good"}


@pytest.mark.flash
def test_a_bad_date_costs_its_session_a_bad_turn_only_itself_and_lost_evidence_is_noted(
    deliver: Any, settle_first: Any
) -> None:
    sessions = [
        [turn("lost"), turn("lost too", has_answer=True)],
        ["no turn", {"content": "no role"}, turn(7), turn("kept")],
    ]
    item = an_item(haystack_dates=["20 May", "2023/05/21 (Sun) 02:21"], haystack_sessions=sessions)
    settled = settle_first(deliver("longmemeval", [item]))
    assert settled.turns["text"].to_pylist() == ["kept"]
    assert {(row["place"], row["weight"]) for row in rows(settled.quarantine)} == {
        ("item 0, session 0", 2),
        ("item 0, session 0, turn 1, has_answer", 0),
        ("item 0, session 1, turn 0", 1),
        ("item 0, session 1, turn 1", 1),
        ("item 0, session 1, turn 2", 1),
    }
    assert settled.requests.num_rows == 1


@pytest.mark.flash
def test_a_question_date_that_cannot_be_parsed_does_not_become_a_question_that_sees_everything(deliver: Any) -> None:
    (arrival,) = deliver("longmemeval", [an_item(question_date="soon")])
    assert arrival.requests.num_rows == 0
    assert [row["request_id"] for row in rows(arrival.quarantine)] == ["q1"]
    assert arrival.turns.num_rows == 4


@pytest.mark.flash
def test_several_questions_share_a_history_and_take_the_evidence_of_their_own_sessions(
    deliver: Any, settle_first: Any
) -> None:
    several = {"question_id": ["a", "b"], "question": ["A?", "B?"], "answer": ["1", 2], "question_type": "t"}
    item = an_item(**several, answer_session_ids=[["answer_x"], ["noise"]])
    settled = settle_first(deliver("longmemeval", [item]))
    assert settled.requests["request_id"].to_pylist() == ["a", "b"]
    assert set(settled.requests["history_id"].to_pylist()) == {"a+b"}
    assert settled.requests["answer"].to_pylist() == ["1", "2"]
    assert set(settled.labels["request_id"].to_pylist()) == {"a"}

    (arrival,) = deliver("longmemeval", [an_item(**several, answer_session_ids=["answer_x"])])
    assert arrival.citations.num_rows == 0
    assert [(row["weight"], row["reason"]) for row in rows(arrival.quarantine)] == [
        (0, "has_answer cannot be given to one of several questions: no labels")
    ]


@pytest.mark.flash
def test_a_file_of_something_else_is_refused(deliver: Any) -> None:
    with pytest.raises(IngestError, match=r"nothing in .* is longmemeval: item 0: key question_id is missing"):
        deliver("longmemeval", [{"conversation": {}}])


def test_the_real_item_has_its_turns_and_evidence(real_data: Path, settle_first: Any) -> None:
    with (real_data / "longmemeval" / "one_item.json").open("rb") as stream:
        settled = settle_first(list(arrivals("longmemeval", [Document.of(stream, "source.json")], {})))
    turns = pl.DataFrame(pl.from_arrow(settled.turns))
    assert (turns.height, turns["session_index"].n_unique(), settled.quarantine.num_rows) == (550, 53, 0)
    labels = settled.labels.to_pylist()
    assert [(row["session_index"], row["turn_index"]) for row in labels] == [(51, 4), (51, 5)]
    assert (
        turns.row(by_predicate=(pl.col("session_index") == 51) & (pl.col("turn_index") == 4), named=True)["role"]
        == "user"
    )


def test_the_real_list_valued_item_becomes_three_requests_over_one_history(real_data: Path, settle_first: Any) -> None:
    with (real_data / "longmemeval" / "list_valued_items.json").open("rb") as stream:
        settled = settle_first(
            list(arrivals("longmemeval", [Document.of(stream, "source.json")], {"items": "q_travel_02"}))
        )
    assert settled.requests["request_id"].to_pylist() == ["q_travel_01", "q_travel_02", "q_travel_03"]
    assert set(settled.requests["history_id"].to_pylist()) == {"q_travel_01+q_travel_02+q_travel_03"}
    assert (settled.labels.num_rows, settled.quarantine.num_rows) == (0, 0)
    later = pl.Series(settled.turns["session_time"].to_pylist()) > settled.requests["asked_at"].to_pylist()[0]
    assert later.any()
    assert not later.all()

"""REALTALK: sessions by where they stand, dates day first, evidence as people wrote it."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.ingest.errors import IngestError
from pipeline.ingest.formats import arrivals
from pipeline.ingest.source import Document

pytestmark = pytest.mark.flash


def said(name: str, text: str | None = "words", **more: Any) -> dict[str, Any]:
    return {"clean_text": text, "speaker": "Ada", "date_time": "29.12.2023, 00:51:12", "dia_id": name, **more}


def chat(*, qa: list[Any] | None = None, **sessions: Any) -> dict[str, Any]:
    return {"name": {"speaker_1": "Ada", "speaker_2": "Bo"}, **sessions, "qa": qa or []}


def asked(*evidence: Any, **more: Any) -> dict[str, Any]:
    return {"question": "What?", "answer": "this", "category": 1, "evidence": list(evidence), **more}


def test_a_chat_is_a_history_called_after_its_file_with_sessions_by_number(settle_first: Any) -> None:
    value = chat(
        session_10=[said("D9:1", "ten", speaker="Bo")],
        session_10_date_time="01.02.2024, 10:00:00",
        session_2=[said("D2:1", "two")],
        session_2_date_time="31.12.2023, 23:59:59",
        session_11_date_time="no date at all",
        events_session_2={"agent_a": [{"sub-event": "secret"}]},
        qa=[asked("D9:1"), asked(category=3)],
    )
    document = Document.of(io.BytesIO(json.dumps(value).encode()), "chats/Chat_1_Ada_Bo.json")
    settled = settle_first(list(arrivals("realtalk", [document], {})))
    turns = settled.turns.to_pylist()
    assert {row["history_id"] for row in turns} == {"chats/Chat_1_Ada_Bo"}
    assert [(row["text"], row["speaker"], row["role"]) for row in turns] == [
        ("two", "Ada", "user"),
        ("ten", "Bo", "user"),
    ]
    assert [row["session_time"] for row in turns] == [
        datetime(2023, 12, 31, 23, 59, 59, tzinfo=UTC),
        datetime(2024, 2, 1, 10, tzinfo=UTC),
    ]
    assert settled.sources["source_session"].to_pylist() == ["session_2", "session_10"]
    assert settled.sources["source_turn"].to_pylist() == ["D2:1", "D9:1"]
    requests = settled.requests.to_pylist()
    assert [(row["request_id"], row["category"], row["answer"], row["asked_at"]) for row in requests] == [
        ("chats/Chat_1_Ada_Bo#q0", "1", "this", None),
        ("chats/Chat_1_Ada_Bo#q1", "3", "this", None),
    ]
    assert [(row["request_id"][-1], row["session_index"]) for row in settled.labels.to_pylist()] == [("0", 1)]
    assert settled.quarantine.num_rows == 0


def test_a_caption_belongs_to_its_turn_and_of_the_image_nothing_else_is_read(deliver: Any) -> None:
    image = {"blip_caption": "a dog", "img_file": "secret.jpg", "img_url": ["http://secret"]}
    session = [said("D1:1", "Look!", **image), said("D1:2", "", **image), said("D1:3", " "), said("D1:4", None)]
    (arrival,) = deliver("realtalk", chat(session_1=session))
    assert arrival.turns["text"].to_pylist() == ["Look! [a dog]", "[a dog]"]
    assert arrival.counts["blank_turns"] == 2
    assert "secret" not in str(arrival.turns.to_pydict())


def test_a_turn_whose_text_was_never_cleaned_has_its_text(deliver: Any) -> None:
    raw = {"text": "as it was", "speaker": "Ada", "dia_id": "D1:1"}
    (arrival,) = deliver("realtalk", chat(session_1=[raw, {**said("D1:2", None), "text": "also"}, said("D1:3", "c")]))
    assert arrival.turns["text"].to_pylist() == ["as it was", "also", "c"]


def test_the_number_in_an_id_is_not_that_of_the_session(deliver: Any, settle_first: Any) -> None:
    value = chat(
        session_3=[said(f"D3:{number}", f"3 {number}") for number in range(1, 30)],
        session_4=[said(f"D3:{number}", f"4 {number}") for number in range(30, 33)],
        qa=[asked("D3:31"), asked("D3:29-D3:30")],
    )
    labels = settle_first(deliver("realtalk", value)).labels.to_pylist()
    assert [(row["request_id"], row["session_index"], row["turn_index"]) for row in labels] == [
        ("source#q0", 1, 1),
        ("source#q1", 0, 28),
        ("source#q1", 1, 0),
    ]


@pytest.mark.parametrize(
    ("evidence", "cited", "notes"),
    [
        (["D1:1"], [(0, 0)], 0),
        ("D1:1", [(0, 0)], 0),
        (["D1:3."], [(0, 2)], 0),
        (["D1:1-D1:3"], [(0, 0), (0, 1), (0, 2)], 0),
        (["D1:1-D1:2;D2:1-D2:2"], [(0, 0), (0, 1), (1, 0), (1, 1)], 0),
        (["D1:3:D2:2"], [(0, 2), (1, 1)], 0),
        (["D1:1-D1:2", "D1:2-D1:3", "D1:1"], [(0, 0), (0, 1), (0, 2)], 0),
        (["D1:2-D1:9"], [(0, 1), (0, 2)], 0),
        (["D1:8", "D1:1"], [(0, 0)], 1),
        (["D7:1-D7:3"], [], 1),
        (["none"], [], 1),
        ([5, None, ["D1:1"], {"D1:1": 1}], [], 4),
        ({"D1:1": 1}, [], 1),
        ([], [], 0),
        (None, [], 0),
    ],
)
def test_evidence_is_read_as_it_was_written_and_a_question_without_any_stays(
    deliver: Any, settle_first: Any, evidence: Any, cited: list[tuple[int, int]], notes: int
) -> None:
    sessions = {f"session_{n}": [said(f"D{n}:{m}", f"{n} {m}") for m in (1, 2, 3)] for n in (1, 2)}
    settled = settle_first(deliver("realtalk", chat(qa=[{**asked(), "evidence": evidence}], **sessions)))
    assert [(row["session_index"], row["turn_index"]) for row in settled.labels.to_pylist()] == cited
    assert [(row["code"], row["weight"]) for row in settled.quarantine.to_pylist()] == [("citation", 0)] * notes
    assert settled.requests.num_rows == 1


@pytest.mark.parametrize(
    ("own", "first", "hour"),
    [
        ("29.12.2023, 05:00:00", "29.12.2023, 07:00:00", 5),
        (None, "29.12.2023, 07:00:00", 7),
        ("", "29.12.2023, 07:00:00", 7),
        (None, None, None),
    ],
)
def test_the_time_of_a_session_is_its_own_else_that_of_its_first_turn(
    deliver: Any, own: str | None, first: str | None, hour: int | None
) -> None:
    session = [said("D1:1", date_time=first), said("D1:2", date_time="29.12.2023, 09:00:00")]
    (arrival,) = deliver("realtalk", chat(session_1=session, session_1_date_time=own))
    assert [time and time.hour for time in arrival.turns["session_time"].to_pylist()] == [hour, hour]


@pytest.mark.parametrize("time", ["2023-12-29", "12.29.2023, 00:51:12", "31.02.2024, 00:00:00", 5, ["29.12.2023"]])
def test_a_time_that_cannot_be_parsed_costs_its_session(deliver: Any, time: Any) -> None:
    value = chat(session_1=[said("D1:1")] * 3, session_1_date_time=time, session_2=[said("D2:1", "kept")])
    (arrival,) = deliver("realtalk", value)
    assert arrival.turns["text"].to_pylist() == ["kept"]
    assert [(row["code"], row["place"], row["weight"]) for row in arrival.quarantine.to_pylist()] == [
        ("bad_time", "session_1", 3)
    ]


def test_broken_parts_are_quarantined_where_they_stand_and_the_rest_is_kept(deliver: Any) -> None:
    value = chat(
        session_1="words",
        session_2=[said("D2:1"), 5, said("D2:2", clean_text=5), said("D2:3", blip_caption=[])],
        qa=[asked(), "no object", {"answer": "no question"}, asked(question=" ")],
    )
    (arrival,) = deliver("realtalk", value)
    assert arrival.turns["source_turn"].to_pylist() == ["D2:1"]
    assert arrival.requests["request_id"].to_pylist() == ["source#q0"]
    assert [row["place"] for row in arrival.quarantine.to_pylist()] == [
        "session_1",
        "session_2, turn 1",
        "session_2, turn 2",
        "session_2, turn 3",
        "question 1",
        "question 2",
        "question 3",
    ]


@pytest.mark.parametrize("qa", [5, "none", {"question": "?"}])
def test_questions_that_are_no_list_cost_the_questions_only(deliver: Any, qa: Any) -> None:
    (arrival,) = deliver("realtalk", {**chat(session_1=[said("D1:1")]), "qa": qa})
    assert (arrival.turns.num_rows, arrival.requests.num_rows) == (1, 0)
    assert arrival.quarantine["place"].to_pylist() == ["qa"]


def test_sessions_of_one_number_are_both_kept(deliver: Any) -> None:
    (arrival,) = deliver("realtalk", chat(session_1=[said("D1:1")], session_01=[said("D1:2")]))
    assert arrival.turns["source_session"].to_pylist() == ["session_01", "session_1"]


@pytest.mark.parametrize("value", [{}, {"name": {}, "qa": []}, {"session_1": "no list"}, {"session_x": []}])
def test_an_object_without_sessions_is_no_chat(deliver: Any, value: Any) -> None:
    with pytest.raises(IngestError, match=r"^source\.json: it is no REALTALK chat"):
        deliver("realtalk", value)


def test_items_may_be_chosen_by_the_name_of_the_file(deliver: Any) -> None:
    value = chat(session_1=[said("D1:1")])
    assert deliver("realtalk", value, items="source")[0].turns.num_rows == 1
    with pytest.raises(IngestError, match="lacks: other"):
        deliver("realtalk", value, items="other")


def test_a_second_delivery_of_a_grown_chat_shares_its_keys(deliver: Any) -> None:
    first = chat(session_1=[said("D1:1", "a")], session_1_date_time="29.12.2023, 05:00:00")
    grown = {**first, "session_1": [said("D1:1", "a"), said("D1:2", "b")], "session_2": [said("D2:1", "c")]}
    keys = [
        {
            tuple(row[name] for name in ("session_key", "turn_key", "content_digest"))
            for row in arrival.turns.to_pylist()
        }
        for arrival in (deliver("realtalk", first)[0], deliver("realtalk", grown)[0])
    ]
    assert keys[0] < keys[1]
    assert len(keys[1]) == 3

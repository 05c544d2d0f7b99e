"""LoCoMo: captions, the order of sessions, evidence as people wrote it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipeline.ingest.formats import arrivals
from pipeline.ingest.source import Document


def said(name: str, text: str = "words", **more: Any) -> dict[str, Any]:
    return {"speaker": "Ada", "dia_id": name, "text": text, **more}


def conversation(*, qa: list[Any] | None = None, sample_id: str | None = "conv-1", **sessions: Any) -> dict[str, Any]:
    return {"sample_id": sample_id, "conversation": {"speaker_a": "Ada", "speaker_b": "Bo", **sessions}, "qa": qa or []}


def asked(*evidence: Any, **more: Any) -> dict[str, Any]:
    return {"question": "What?", "answer": "this", "category": 1, "evidence": list(evidence), **more}


@pytest.mark.flash
def test_a_caption_is_appended_and_query_and_url_are_not_read(deliver: Any) -> None:
    image = {"blip_caption": "a photo of a dog", "query": "dog secret", "img_url": ["http://x"]}
    session = [said("D1:1", "Look!", **image), said("D1:2", "", **image), said("D1:3", " "), said("D1:4", "bye")]
    (arrival,) = deliver("locomo", [conversation(session_1=session)])
    assert arrival.turns["text"].to_pylist() == ["Look! [a photo of a dog]", "[a photo of a dog]", "bye"]
    assert arrival.turns["speaker"].to_pylist() == ["Ada"] * 3
    assert arrival.turns["role"].to_pylist() == ["user"] * 3
    assert arrival.counts["blank_turns"] == 1
    assert "secret" not in str(arrival.turns.to_pydict())


@pytest.mark.flash
def test_sessions_go_by_number_and_dates_without_a_session_are_ignored(deliver: Any, settle_first: Any) -> None:
    item = conversation(
        session_10=[said("D10:1", "ten")],
        session_2=[said("D2:1", "two")],
        session_10_date_time="1:56 pm on 8 May, 2023",
        session_11_date_time="no date at all",
    )
    settled = settle_first(deliver("locomo", [item]))
    assert settled.turns["text"].to_pylist() == ["two", "ten"]
    assert [time and time.hour for time in settled.turns["session_time"].to_pylist()] == [None, 13]
    assert settled.sources["source_session"].to_pylist() == ["session_2", "session_10"]
    assert settled.quarantine.num_rows == 0


@pytest.mark.flash
def test_a_date_that_cannot_be_parsed_costs_its_session(deliver: Any) -> None:
    item = conversation(session_1=[said("D1:1")] * 3, session_1_date_time="some day", session_2=[said("D2:1", "kept")])
    (arrival,) = deliver("locomo", [item])
    assert arrival.turns["text"].to_pylist() == ["kept"]
    assert [(row["place"], row["weight"]) for row in arrival.quarantine.to_pylist()] == [("item 0, session_1", 3)]


@pytest.mark.flash
@pytest.mark.parametrize(
    ("evidence", "cited", "notes"),
    [
        (["D1:1", "D2:2"], [(0, 0), (1, 1)], 0),
        (["D1:1; D2:2"], [(0, 0), (1, 1)], 0),
        (["D2:1 D2:2,D1:1"], [(0, 0), (1, 0), (1, 1)], 0),
        (["D:2:1"], [(1, 0)], 0),
        (["D2:02", "D02:2", "D2:2."], [(1, 1)], 0),
        (["D"], [], 1),
        (["D1:1", "D9:9", 5], [(0, 0)], 2),
        ("D1:1", [(0, 0)], 0),
        ([], [], 0),
        (None, [], 0),
    ],
)
def test_evidence_is_read_as_it_was_written(
    deliver: Any, settle_first: Any, evidence: Any, cited: list[tuple[int, int]], notes: int
) -> None:
    sessions = {f"session_{n}": [said(f"D{n}:1", f"{n} 1"), said(f"D{n}:2", f"{n} 2")] for n in (1, 2)}
    settled = settle_first(deliver("locomo", [conversation(qa=[{**asked(), "evidence": evidence}], **sessions)]))
    assert [(row["session_index"], row["turn_index"]) for row in settled.labels.to_pylist()] == cited
    assert settled.quarantine["weight"].to_pylist() == [0] * notes
    assert settled.requests.num_rows == 1


@pytest.mark.flash
def test_an_id_that_two_turns_bear_and_a_blank_turn_are_no_evidence(deliver: Any, settle_first: Any) -> None:
    session = [said("D1:1", "a"), said("D1:1", "b"), said("D1:2", " ")]
    settled = settle_first(deliver("locomo", [conversation(qa=[asked("D1:1", "D1:2")], session_1=session)]))
    assert settled.labels.num_rows == 0
    assert len([row for row in settled.quarantine.to_pylist() if row["weight"] == 0]) == 2
    assert settled.turns["text"].to_pylist() == ["a", "b"]


@pytest.mark.flash
def test_answers_and_categories_are_text_and_category_5_is_adversarial(deliver: Any) -> None:
    qa = [
        asked(answer=2022),
        {"question": "Why?", "category": 5, "adversarial_answer": "no", "evidence": ["D1:1"]},
        asked(),
    ]
    (arrival,) = deliver("locomo", [conversation(qa=[*qa, {"answer": "no question"}], session_1=[said("D1:1")])])
    requests = arrival.requests.to_pylist()
    assert [(row["request_id"], row["category"], row["answer"], row["adversarial"]) for row in requests] == [
        ("conv-1#q0", "1", "2022", False),
        ("conv-1#q1", "5", None, True),
        ("conv-1#q2", "1", "this", False),
    ]
    assert arrival.requests["asked_at"].null_count == 3
    assert [row["request_id"] for row in arrival.quarantine.to_pylist()] == ["conv-1#q3"]


@pytest.mark.flash
def test_without_a_sample_id_the_file_and_the_position_name_the_history(deliver: Any) -> None:
    items = [conversation(session_1=[said("D1:1")]), conversation(sample_id=None, session_1=[said("D1:1")])]
    (arrival,) = deliver("locomo", items)
    assert arrival.turns["history_id"].to_pylist() == ["conv-1", "source:1"]


@pytest.mark.flash
def test_broken_parts_are_quarantined_and_the_rest_is_kept(deliver: Any) -> None:
    items = ["text", {"sample_id": "x"}, conversation(session_1="words", session_2=[said("D2:1"), 5, said("D2:2", 5)])]
    items.append({**conversation(session_1=[said("D1:1")], sample_id="y"), "qa": "none"})
    (arrival,) = deliver("locomo", items)
    assert Counter(arrival.turns["history_id"].to_pylist()) == {"conv-1": 1, "y": 1}
    assert [row["place"] for row in arrival.quarantine.to_pylist()] == [
        "item 0",
        "item 1",
        "item 2, session_1",
        "item 2, session_2, turn 1",
        "item 2, session_2, turn 2",
        "item 3, qa",
    ]


@pytest.mark.flash
def test_a_conversation_without_sessions_is_missed_and_its_questions_are_kept(deliver: Any) -> None:
    (arrival,) = deliver("locomo", [conversation(qa=[asked()]), conversation(session_1=[said("D1:1")])])
    assert [(row["code"], row["place"]) for row in arrival.quarantine.to_pylist()] == [("wrong_shape", "item 0")]
    assert arrival.requests.num_rows == 1


def test_real_conversations_3_to_5_hold_500_requests_with_evidence_124_of_them_over_sessions(
    real_data: Path, settle_first: Any
) -> None:
    with (real_data / "locomo" / "locomo_conversations_0_to_5.json").open("rb") as stream:
        settled = settle_first(list(arrivals("locomo", [Document.of(stream, "source.json")], {"items": "3-5"})))
    requests = pl.DataFrame(pl.from_arrow(settled.requests)).filter(~pl.col("adversarial"))
    assert set(requests["category"]) == {"1", "2", "3", "4"}
    labels = pl.DataFrame(pl.from_arrow(settled.labels)).join(requests, on=["history_id", "request_id"], how="semi")
    kappa = labels.group_by("request_id").agg(pl.col("session_index").n_unique())["session_index"]
    assert (len(kappa), (kappa >= 2).sum()) == (500, 124)
    notes = settled.quarantine.to_pylist()
    assert {row["place"].split("evidence ")[1] for row in notes} == {"D", "D10:19"}
    assert {row["weight"] for row in notes} == {0}

"""Whole histories: the same bytes for ever, the shape of LongMemEval, evidence where it is said to be."""

import hashlib
import io
import json
from collections import Counter
from datetime import datetime
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.ingest import longmemeval
from pipeline.ingest.options import Options
from pipeline.ingest.source import Document
from pipeline.synth.calendar import session_times
from pipeline.synth.dice import Dice
from pipeline.synth.histories import _asked, history, json_chunks

FIELDS = {
    "question_id", "question_type", "question", "answer", "question_date", "haystack_dates", "haystack_session_ids",
    "haystack_sessions", "answer_session_ids",
}  # fmt: skip


@pytest.fixture(scope="module")
def items():
    return [history(11, index, 14) for index in range(300)]


def evidence(item):
    """The sessions with evidence, and in each the number of evidence turns."""
    counts = [sum(turn.get("has_answer", False) for turn in session) for session in item["haystack_sessions"]]
    return {place: count for place, count in enumerate(counts) if count}


GOLDEN = "15bc8af1ab72db72c6fbe0c602c46cc447942bc75248dfdd843d0bb3f02c9cb9"


def read(stamp):
    return datetime.strptime(stamp[:10] + stamp[-5:], "%Y/%m/%d%H:%M")


@pytest.mark.flash
def test_the_same_seed_gives_the_same_bytes_on_any_machine():
    data = b"".join(json_chunks(histories=3, sessions=6, seed=5))
    assert hashlib.sha256(data).hexdigest() == GOLDEN


@pytest.mark.flash
def test_a_stream_is_a_json_array_and_a_longer_one_begins_with_a_shorter():
    short, long = json_chunks(histories=2, sessions=3, seed=1), json_chunks(histories=4, sessions=3, seed=1)
    first, second = json.loads(b"".join(short)), json.loads(b"".join(long))
    assert first == second[:2]
    assert second == [history(1, index, 3) for index in range(4)]
    assert json.loads(b"".join(json_chunks(histories=0, sessions=3, seed=1))) == []


@pytest.mark.flash
def test_a_stream_is_lazy():
    assert len(list(islice(json_chunks(histories=10**9, sessions=2, seed=1), 3))) == 3


@pytest.mark.flash
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**40), st.integers(0, 2**30), st.integers(1, 9))
def test_every_history_has_the_shape_of_longmemeval(seed, index, sessions):
    item = history(seed, index, sessions)
    assert set(item) == FIELDS
    assert (
        len(item["haystack_sessions"]) == len(item["haystack_dates"]) == len(item["haystack_session_ids"]) == sessions
    )
    assert item["haystack_dates"] == sorted(item["haystack_dates"])
    for session in item["haystack_sessions"]:
        assert len(session) >= 3
        assert {turn["role"] for turn in session} == {"user", "assistant"}
        assert all(turn["content"].strip() for turn in session)
        assert len({"has_answer" in turn for turn in session}) == 1
    places = evidence(item)
    assert [item["haystack_session_ids"][place] for place in places] == item["answer_session_ids"]
    assert [place for place, session in enumerate(item["haystack_sessions"]) if "has_answer" in session[0]] == [*places]
    assert ("_abs" in item["question_id"]) == (not places)


@pytest.mark.flash
@pytest.mark.parametrize(("index", "sessions", "requests"), [(0, 0, 1), (-1, 3, 1), (0, 3, 0)])
def test_impossible_arguments_are_refused(index, sessions, requests):
    with pytest.raises(ValueError, match="at least one session"):
        history(1, index, sessions, requests)


@pytest.fixture(scope="module")
def asked_more():
    return [history(11, index, 16, requests=5) for index in range(30)]


OF_EACH = ("question_id", "question_type", "question", "answer", "question_date", "answer_session_ids")


@pytest.mark.flash
def test_several_requests_of_a_history_each_have_a_value_of_what_is_said_of_a_question(asked_more):
    for item in asked_more:
        assert set(item) == FIELDS
        assert {len(item[name]) for name in OF_EACH} == {5}
        assert len(set(item["question_id"])) == len(set(item["question"])) == 5
    ids = {name for item in asked_more for name in item["question_id"]}
    assert len(ids) == 5 * len(asked_more)
    assert not ids & {history(11, index, 16)["question_id"] for index in range(30)}, "another history, another id"


@pytest.mark.flash
def test_no_session_holds_evidence_of_two_requests_and_every_one_that_holds_some_is_named(asked_more):
    for item in asked_more:
        named = [name for sessions in item["answer_session_ids"] for name in sessions]
        assert len(set(named)) == len(named)
        assert {item["haystack_session_ids"][place] for place in evidence(item)} == set(named)
        assert set(evidence(item).values()) <= {1}
        for name, sessions in zip(item["question_id"], item["answer_session_ids"], strict=True):
            assert name.endswith("_abs") == (not sessions)


@pytest.mark.flash
def test_the_reader_gives_each_of_several_requests_its_own_evidence(asked_more):
    document = Document.of(io.BytesIO(json.dumps(asked_more).encode()), "synth.json")
    for item, read_history in zip(asked_more, longmemeval.read(document, Options()), strict=True):
        assert [len(request.evidence) for request in read_history.requests] == [
            len(sessions) for sessions in item["answer_session_ids"]
        ]


@pytest.mark.flash
def test_a_history_too_short_for_so_many_requests_has_fewer():
    counts = [len(history(3, index, 2, requests=6)["question"]) for index in range(20)]
    assert 1 <= min(counts) <= max(counts) < 6


def test_requests_of_one_history_are_about_different_things():
    for index in range(20):
        dice = Dice(f"cases/{index}")
        asked = _asked(dice, [False] * 5, session_times(dice, 20))
        about = [name for one in asked for name in one.case.about]
        assert len(asked) == 5
        assert len(set(about)) == len(about)


def test_ids_are_unique_and_neutral(items):
    assert len({item["question_id"] for item in items}) == len(items)
    for item in items:
        for name in item["haystack_session_ids"]:
            assert len(name) == 10
            int(name[:8], 16)


def test_evidence_lies_in_one_to_five_sessions_mixed_as_in_longmemeval(items):
    kappa = Counter(len(evidence(item)) for item in items)
    n = len(items) - kappa[0]
    assert 0.02 < kappa[0] / len(items) < 0.11
    assert set(kappa) == {0, 1, 2, 3, 4, 5}
    assert 0.26 < kappa[1] / n < 0.44
    assert 0.36 < kappa[2] / n < 0.54
    assert {item["question_type"] for item in items} == {
        "single-session-user", "single-session-assistant", "multi-session", "knowledge-update", "temporal-reasoning",
    }  # fmt: skip
    for item in items:
        assert set(evidence(item).values()) <= {1}


def test_both_roles_hold_evidence_about_equally_often(items):
    roles = Counter(
        turn["role"] for item in items for session in item["haystack_sessions"] for turn in session
        if turn.get("has_answer")
    )  # fmt: skip
    assert 0.4 < roles["user"] / roles.total() < 0.6


def test_a_few_questions_are_asked_before_the_end_and_then_after_their_evidence(items):
    early = 0
    for item in items:
        asked, dates = read(item["question_date"]), [read(date) for date in item["haystack_dates"]]
        early += asked < dates[-1]
        assert all(dates[place] < asked for place in evidence(item))
    assert 0.01 < early / len(items) < 0.09


def test_answers_without_evidence_say_so(items):
    absent = [item for item in items if item["question_id"].endswith("_abs")]
    assert absent
    assert all("did not mention" in item["answer"] for item in absent)


def test_some_turns_hold_other_scripts(items):
    turns = [turn["content"] for item in items for session in item["haystack_sessions"] for turn in session]
    share = sum(any(ord(char) > 0x3000 or 0x400 < ord(char) < 0xE80 for char in text) for text in turns) / len(turns)
    assert 0.005 < share < 0.05

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import schemas
from pipeline.evaluate.labelling import late_labels, unresolved_citations, unseen_evidence
from pipeline.recall.history import History, Lists, Request
from pipeline.recall.visible import visible

pytestmark = pytest.mark.flash

NONE_LATE = pl.DataFrame(pl.from_arrow(schemas.LABELS.empty_table()))
DAYS = st.none() | st.integers(1, 9).map(lambda day: datetime(2024, 1, day, tzinfo=UTC))
TURN = st.tuples(st.integers(0, 3), st.integers(0, 3))


def _microseconds(time: datetime | None) -> np.datetime64:
    return np.datetime64("NaT", "us") if time is None else np.datetime64(time.replace(tzinfo=None), "us")


@given(
    sessions=st.dictionaries(st.integers(0, 3), DAYS, min_size=1),
    asked_at=DAYS,
    bound=st.none() | st.tuples(st.integers(0, 3), st.none() | st.integers(0, 3)),
    gold=st.sets(TURN),
)
def test_evidence_is_unseen_exactly_where_recall_does_not_see_the_turn(sessions, asked_at, bound, gold):
    places = [(session, turn) for session in sorted(sessions) for turn in range(4)]
    gold = sorted(gold & set(places))
    times = [sessions[session] for session, _ in places]
    seen_session, seen_turn = bound or (None, None)
    asked = {"request_id": "q", "history_id": "h", "mode": "agent", "text": "?", "asked_at": asked_at,
             "seen_session": seen_session, "seen_turn": seen_turn, "adversarial": False}  # fmt: skip
    turns = [
        {"history_id": "h", "session_index": s, "turn_index": t, "session_time": time, "role": "user", "text": "x",
         "n_tokens": 1}
        for (s, t), time in zip(places, times, strict=True)
    ]  # fmt: skip
    labels = [{"request_id": "q", "history_id": "h", "session_index": s, "turn_index": t} for s, t in gold]
    found = unseen_evidence(
        pa.Table.from_pylist([asked], schemas.REQUESTS),
        pa.Table.from_pylist(labels, schemas.LABELS),
        pa.Table.from_pylist(turns, schemas.TURNS),
        NONE_LATE,
    )
    nothing = np.zeros(len(places) + 1, np.int64)
    history = History(
        "h",
        np.array([session for session, _ in places]),
        np.array([turn for _, turn in places]),
        np.array([_microseconds(time) for time in times]),
        Lists(nothing[:0], nothing),
        None,
    )
    request = Request("q", _microseconds(asked_at), seen_session, seen_turn, nothing[:0], None)
    mask = dict(zip(places, visible(history, request), strict=True))
    expected = sum(not mask[place] for place in gold)
    assert found.rows() == ([("h", "q", expected)] if expected else [])


def noted(*rows):
    """Notes of ingest, each with the batch that put it down, its place and its code."""
    put_aside = [
        {"history_id": "h", "request_id": None if code == "no_labels" else "q", "file": "f", "place": place,
         "code": code, "reason": "why", "origin": "row", "weight": 0}
        for _, place, code in rows
    ]  # fmt: skip
    table = pa.Table.from_pylist(put_aside, schemas.QUARANTINE)
    return pl.DataFrame(pl.from_arrow(table)).with_columns(seq=pl.Series([seq for seq, *_ in rows], dtype=pl.Int64))


def test_a_citation_counts_once_however_often_its_source_is_delivered_and_other_notes_do_not_count():
    notes = noted((1, "a", "citation"), (2, "a", "citation"), (2, "b", "citation"), (1, "c", "bad_request"),
                  (1, "d", "no_labels"))  # fmt: skip
    assert unresolved_citations(notes, NONE_LATE).rows() == [("h", "q", 2)]


def test_what_a_delivery_that_brought_labels_did_not_note_again_is_resolved_however_many_turns_it_named():
    a_range_and_a_slip = [(1, "D2:1-D2:3", "citation"), (1, "D9:9", "citation")]
    came = pl.DataFrame([("q", "h", 2 << 20, turn) for turn in range(3)], schema=NONE_LATE.schema, orient="row")
    assert unresolved_citations(noted(*a_range_and_a_slip, (2, "D9:9", "citation")), came).rows() == [("h", "q", 1)]
    assert unresolved_citations(noted(*a_range_and_a_slip), came).is_empty()
    assert unresolved_citations(noted(*a_range_and_a_slip, (3, "D9:9", "citation")), came).rows() == [("h", "q", 1)]


def test_a_label_is_late_where_its_turn_came_in_a_later_batch_than_the_request_and_is_then_unseen():
    label = {"request_id": "q", "history_id": "h", "turn_index": 0}
    labels = pa.Table.from_pylist([{**label, "session_index": (seq << 20) + 3} for seq in (1, 2, 3)], schemas.LABELS)
    arrived = pl.DataFrame({"history_id": ["h"], "request_id": ["q"], "seq": [2]})
    late = late_labels(labels, arrived)
    assert late["session_index"].to_list() == [(3 << 20) + 3]
    asked = {"request_id": "q", "history_id": "h", "mode": "reader", "text": "?", "adversarial": False}
    requests, turns = pa.Table.from_pylist([asked], schemas.REQUESTS), schemas.TURNS.empty_table()
    assert unseen_evidence(requests, labels, turns, late).rows() == [("h", "q", 1)]
    assert unseen_evidence(requests, labels, turns, NONE_LATE).is_empty()

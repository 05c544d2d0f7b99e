from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import schemas
from pipeline.recall.pools import PoolOptions, pools
from pipeline.schemas import REQUESTS, TERMS, TURNS, request_vectors, turn_vectors

Recall = Callable[..., pa.Table]
WORDS = st.sampled_from(["apple", "pear", "plum", "fig", "apples", "the", "nan"])
TEXT = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
SESSIONS = st.lists(st.lists(TEXT, min_size=1, max_size=4), min_size=1, max_size=4)


def turns_of(history: str, sessions: list[list[str]], first_session: int = 0) -> list[dict[str, Any]]:
    return [
        {"at": (history, session, turn), "day": session, "text": text}
        for session, texts in enumerate(sessions, start=first_session)
        for turn, text in enumerate(texts)
    ]


@settings(max_examples=40, deadline=None)
@given(SESSIONS, SESSIONS, st.lists(TEXT, max_size=2), TEXT)
def test_what_comes_later_changes_no_earlier_pool(
    recall_pools: Recall, sessions: list[list[str]], later: list[list[str]], more_turns: list[str], question: str
) -> None:
    last = len(sessions) - 1
    early = turns_of("h", sessions)
    requests = [
        {"id": "asked", "history": "h", "text": question, "day": last},
        {"id": "step", "history": "h", "text": question, "seen": (last, len(sessions[-1]) - 1)},
    ]
    appended = [
        {"at": ("h", last, len(sessions[-1]) + k), "day": last, "text": text} for k, text in enumerate(more_turns)
    ]
    later_sessions = turns_of("h", later, first_session=last + 1)
    before = recall_pools(early, requests)
    assert recall_pools([*early, *later_sessions], requests).equals(before)
    steps = pl.DataFrame(pl.from_arrow(before)).filter(pl.col("request_id") == "step")
    grown = recall_pools([*later_sessions, *appended, *early], requests[1:])
    assert pl.DataFrame(pl.from_arrow(grown)).equals(steps)


@settings(max_examples=25, deadline=None)
@given(SESSIONS, SESSIONS, TEXT)
def test_another_history_changes_nothing(
    recall_pools: Recall, sessions: list[list[str]], others: list[list[str]], question: str
) -> None:
    own = turns_of("h", sessions)
    request = {"id": "r", "history": "h", "text": question}
    alone = recall_pools(own, [request])
    both = recall_pools(
        [*turns_of("a", others), *own, *turns_of("z", others)],
        [request, {"id": "q", "history": "z", "text": question}],
    )
    assert both.filter(pa.compute.equal(both["history_id"], "h")).equals(alone)
    of_other = {tuple(turn["at"][1:]) for turn in turns_of("z", others)}
    pooled = both.filter(pa.compute.equal(both["request_id"], "q")).to_pylist()
    assert {(row["session_index"], row["turn_index"]) for row in pooled} == of_other


@settings(max_examples=25, deadline=None)
@given(SESSIONS, st.lists(TEXT, min_size=1, max_size=3))
def test_positions_are_a_permutation_as_are_the_ranks_of_what_was_recalled_and_engines_make_one_pool(
    recall_pools: Recall, sessions: list[list[str]], questions: list[str]
) -> None:
    turns = turns_of("h", sessions)
    requests = [{"id": f"r{k}", "history": "h", "text": text} for k, text in enumerate(questions)]
    found = recall_pools(turns, requests)
    assert found.equals(recall_pools(turns, requests, bm25_engine="rank_bm25"))
    everyone = list(range(1, len(turns) + 1))
    for _, rows in pl.DataFrame(pl.from_arrow(found)).group_by("request_id"):
        assert rows["pool_position"].to_list() == everyone
        for name in ("bm25", "dense"):
            recalled = rows.filter(pl.col(f"{name}_rank").is_not_null()).sort(f"{name}_rank")
            assert recalled[f"{name}_rank"].to_list() == everyone[: recalled.height]
            assert recalled[f"{name}_score"].is_sorted(descending=True)
        assert (rows.filter(pl.col("bm25_rank").is_null())["bm25_score"] == 0).all()
        assert rows["rrf_score"].is_sorted(descending=True)


@pytest.mark.flash
def test_the_pool_is_cut_to_its_size_and_ranks_run_over_all_turns(recall_pools: Recall) -> None:
    turns = turns_of("h", [["fig", "plum", "apple pie"], ["pear tree", "apple"]])
    request = {"id": "r", "history": "h", "text": "pear or two plums, plums", "day": 3}
    rows = recall_pools(turns, [request], pool_size=2, channels=("bm25",)).to_pylist()
    assert [(row["session_index"], row["turn_index"]) for row in rows] == [(0, 1), (1, 0)]
    assert [row["bm25_rank"] for row in rows] == [1, 2]
    assert [row["age_days"] for row in rows] == [3.0, 2.0]
    assert "dense_score" not in rows[0]


@pytest.mark.flash
def test_turns_that_share_no_term_with_the_request_have_no_rank_in_bm25_and_follow_the_newest_first(
    recall_pools: Recall,
) -> None:
    turns = turns_of("h", [["fig", "plum"], ["pear tree", "apple"]])
    request = {"id": "r", "history": "h", "text": "plum"}
    rows = recall_pools(turns, [request], channels=("bm25",)).to_pylist()
    assert [(row["session_index"], row["turn_index"]) for row in rows] == [(0, 1), (1, 1), (1, 0), (0, 0)]
    assert [row["bm25_rank"] for row in rows] == [1, None, None, None]
    assert [row["bm25_score"] for row in rows[1:]] == [0.0] * 3


@pytest.mark.flash
def test_a_turn_found_by_meaning_alone_stands_before_newer_ones_that_neither_channel_finds(
    recall_pools: Recall,
) -> None:
    turns = turns_of("h", [["apples", "nan plum", "nan fig"]])
    request = {"id": "r", "history": "h", "text": "nothing in common"}
    rows = recall_pools(turns, [request]).to_pylist()
    assert [row["turn_index"] for row in rows] == [0, 2, 1]
    assert [(row["bm25_rank"], row["dense_rank"]) for row in rows] == [(None, 1), (None, None), (None, None)]


@pytest.mark.flash
def test_age_runs_from_the_newest_visible_session_where_asked_at_is_absent(recall_pools: Recall) -> None:
    dated = turns_of("h", [["fig"], ["plum"], ["pear"]])
    request = {"id": "r", "history": "h", "text": "fig", "seen": (1, 0)}
    rows = recall_pools(dated, [request]).to_pylist()
    assert {row["session_index"]: row["age_days"] for row in rows} == {0: 1.0, 1: 0.0}
    undated = recall_pools([{**turn, "day": None} for turn in dated], [request])
    assert undated["age_days"].to_pylist() == [None, None]


@pytest.mark.flash
def test_a_request_that_sees_no_turn_has_no_rows(recall_pools: Recall) -> None:
    turns = turns_of("h", [["fig"]])
    too_early = {"id": "r", "history": "h", "text": "fig", "day": -1}
    elsewhere = {"id": "q", "history": "unknown", "text": "fig"}
    found = recall_pools(turns, [too_early, elsewhere])
    assert found.num_rows == 0
    assert found.schema.equals(schemas.pools(("bm25", "dense")))


@pytest.mark.flash
def test_a_request_in_chinese_finds_the_turn(recall_pools: Recall) -> None:
    turns = turns_of("h", [["昨天我們去爬山了", "今天下雨", "明天要開會"]])
    request = {"id": "r", "history": "h", "text": "什麼時候爬山?"}
    best = recall_pools(turns, [request], channels=("bm25",)).to_pylist()[0]
    assert best["turn_index"] == 0
    assert best["bm25_score"] > 0


@pytest.mark.flash
def test_a_turn_without_a_vector_has_no_dense_score_and_no_rank(recall_pools: Recall) -> None:
    turns = turns_of("h", [["nan fig", "plum", "fig tree"]])
    rows = recall_pools(turns, [{"id": "r", "history": "h", "text": "fig"}]).to_pylist()
    broken = next(row for row in rows if row["turn_index"] == 0)
    assert (broken["dense_score"], broken["dense_rank"]) == (None, None)


@pytest.mark.flash
def test_a_request_without_a_vector_is_answered_by_the_other_channels(recall_pools: Recall) -> None:
    turns = turns_of("h", [["fig", "plum", "pear"]])
    request = {"id": "r", "history": "h", "text": "nan plum"}
    rows = recall_pools(turns, [request]).to_pylist()
    assert [row["turn_index"] for row in rows] == [1, 2, 0]
    assert [row["dense_rank"] for row in rows] == [None, None, None]
    assert recall_pools(turns, [request], channels=("dense",)).num_rows == 0


@pytest.mark.flash
def test_a_channel_without_its_table_says_so() -> None:
    empty = [schema.empty_table() for schema in (REQUESTS, TURNS, TERMS)]
    with pytest.raises(ValueError, match="dense and dense_window need turn_vectors"):
        pools(*empty, None, None, PoolOptions())


@pytest.mark.flash
def test_a_turn_given_twice_is_refused(recall_pools: Recall) -> None:
    turns = turns_of("h", [["fig"]])
    with pytest.raises(ValueError, match="twice"):
        recall_pools([*turns, *turns], [{"id": "r", "history": "h", "text": "fig"}])


@pytest.mark.slow
def test_a_history_of_100_000_turns_takes_seconds() -> None:
    n, dim, n_requests = 100_000, 384, 20
    rng = np.random.default_rng(0)
    key = {
        "history_id": pa.array(["h"] * n, pa.large_string()),
        "session_index": pa.array(np.arange(n) // 20),
        "turn_index": pa.array((np.arange(n) % 20).astype(np.int32)),
    }
    vocabulary = np.array([f"term{k}" for k in range(20_000)])
    words = vocabulary[(rng.pareto(1.0, n * 20) * 10).astype(np.int64) % len(vocabulary)]
    start = datetime(2024, 1, 1, tzinfo=UTC)
    day = [start + timedelta(days=int(session)) for session in np.arange(n) // 20]
    turns = pa.table({**key, "session_time": pa.array(day, pa.timestamp("us", tz="UTC"))})
    terms = pa.table({**key, "terms": pa.LargeListArray.from_arrays(np.arange(n + 1) * 20, pa.array(words))})
    texts = [f"term{k} term{k * 7}" for k in range(n_requests)]
    asked = {"mode": "reader", "history_id": "h", "adversarial": False}
    requests = pa.Table.from_pylist(
        [
            {**asked, "request_id": f"r{k:02d}", "text": text, "asked_at": start + timedelta(days=4000 + k % 4)}
            for k, text in enumerate(texts)
        ],
        schema=REQUESTS,
    )
    vectors = turn_vectors(dim).empty_table()
    values = pa.array((rng.normal(size=n * dim) / dim**0.5).astype(np.float16))
    columns = [*key.values(), pa.array(np.zeros(n, np.int32)), pa.FixedSizeListArray.from_arrays(values, dim)]
    vectors = pa.Table.from_arrays(columns, names=vectors.column_names)
    asked_values = pa.FixedSizeListArray.from_arrays(values[: n_requests * dim], dim)
    asked_vectors = pa.Table.from_arrays(
        [requests["request_id"], requests["history_id"], asked_values], schema=request_vectors(dim)
    )
    began = time.monotonic()
    found, _ = pools(requests, turns, terms, vectors, asked_vectors, PoolOptions())
    assert time.monotonic() - began < 30
    assert found.num_rows == 128 * n_requests

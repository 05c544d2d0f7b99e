"""Pools of late interaction, windows, weights and views."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from word_tokens import FoldedTokenEncoder, WordTokenEncoder

from pipeline.recall.analyzer import analyze
from pipeline.recall.late.rescore import FUNCTION_WEIGHT
from pipeline.recall.options import CHANNEL_NAMES, CHEAP, LATE, PoolOptions

Recall = Callable[..., pa.Table]
Noting = Callable[..., tuple[pa.Table, pa.Table]]
WORDS = st.sampled_from(["apple", "pear", "plum", "fig", "apples", "the", "nan"])
TEXT = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
SESSIONS = st.lists(st.lists(TEXT, min_size=1, max_size=4), min_size=1, max_size=4)
EVERY = {"channels": ("bm25", "bm25_window", "dense", "late_interaction", "tuned_own")}
EVERY["views"] = tuple(name for name in CHANNEL_NAMES if name not in EVERY["channels"])


def turns_of(sessions: list[list[str]], first: int = 0) -> list[dict[str, Any]]:
    return [
        {"at": ("h", session, turn), "day": session, "text": text}
        for session, texts in enumerate(sessions, start=first)
        for turn, text in enumerate(texts)
    ]


def asking(text: str, **bounds: Any) -> list[dict[str, Any]]:
    return [{"id": "r", "history": "h", "text": text, **bounds}]


def frame(table: pa.Table) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(table))


def terms_of(texts: list[str]) -> list[list[str]]:
    return analyze(pl.Series(texts)).to_list()


@settings(max_examples=25)
@given(SESSIONS, SESSIONS, TEXT, st.integers(1, 20), st.sampled_from(["stored", "on_the_fly"]))
def test_what_comes_later_changes_no_score_of_any_channel_or_view(
    recall_pools: Recall, sessions: list[list[str]], later: list[list[str]], text: str, prefilter: int, source: str
) -> None:
    last = len(sessions) - 1
    early, grown = turns_of(sessions), turns_of(sessions) + turns_of(later, first=last + 1)
    requests = [
        *asking(text, day=last),
        {"id": "step", "history": "h", "text": text, "seen": (last, len(sessions[-1]) - 1)},
    ]
    options = {**EVERY, "prefilter": prefilter, "source": source}
    assert recall_pools(grown[::-1], requests, **options).equals(recall_pools(early, requests, **options))


@settings(max_examples=20)
@given(SESSIONS, st.lists(TEXT, min_size=1, max_size=3), st.integers(1, 20), st.sampled_from(["int8", "pooled"]))
def test_codes_that_were_stored_and_those_made_on_the_fly_give_one_pool(
    recall_pools: Recall, sessions: list[list[str]], texts: list[str], prefilter: int, code: str
) -> None:
    requests = [{"id": f"r{k}", "history": "h", "text": text} for k, text in enumerate(texts)]
    options = {**EVERY, "prefilter": prefilter, "code": code}
    stored, fresh = (recall_pools(turns_of(sessions), requests, source=s, **options) for s in ("stored", "on_the_fly"))
    assert stored.equals(fresh)


@settings(max_examples=20)
@given(SESSIONS, SESSIONS, TEXT, st.sampled_from(["int8", "pooled"]))
def test_an_encoder_that_reads_each_history_in_its_own_way_gives_one_pool_from_either_source(
    pools_and_notes: Noting, sessions: list[list[str]], others: list[list[str]], text: str, code: str
) -> None:
    turns = turns_of(sessions) + [{**turn, "at": ("i", *turn["at"][1:])} for turn in turns_of(others)]
    requests = [*asking(text), {"id": "q", "history": "i", "text": text}]
    options = {**EVERY, "code": code, "read_by": FoldedTokenEncoder}
    stored, fresh = (pools_and_notes(turns, requests, source=s, **options)[0] for s in ("stored", "on_the_fly"))
    assert stored.equals(fresh)


@pytest.mark.flash
def test_codes_made_on_the_fly_are_made_by_the_encoder_of_the_history(pools_and_notes: Noting) -> None:
    said = turns_of([["fig plum", "apple pear"]])
    turns = [{**turn, "at": (history, *turn["at"][1:])} for history in "hi" for turn in said]
    requests = [{"id": name, "history": name, "text": "fig pear"} for name in "hi"]
    scores = {}
    for reader in (WordTokenEncoder, FoldedTokenEncoder):
        options = {"channels": ("bm25", "late_own"), "encoders": ("late",), "source": "on_the_fly", "read_by": reader}
        found = frame(pools_and_notes(turns, requests, **options)[0]).sort("history_id", "turn_index")
        scores[reader] = [of["late_own_score"].to_list() for _, of in found.group_by("history_id", maintain_order=True)]
    assert scores[WordTokenEncoder][0] == scores[WordTokenEncoder][1]
    assert scores[FoldedTokenEncoder][0] != scores[FoldedTokenEncoder][1]


@pytest.mark.flash
def test_a_turn_with_a_vector_that_is_not_finite_is_noted_where_its_codes_are_made(pools_and_notes: Noting) -> None:
    turns = turns_of([["fig nan", "plum"], ["nan"]])
    requests = [*asking("plum"), {"id": "q", "history": "h", "text": "fig"}]
    options = {"channels": ("bm25", "late_own"), "encoders": ("late",)}
    found, notes = pools_and_notes(turns, requests, source="on_the_fly", **options)
    row = {"history_id": "h", "code": "not_finite", "reason": "token encoder words: vector is not finite"}
    assert [{name: note[name] for name in row} for note in notes.to_pylist()] == [row, row]
    assert frame(notes).select("session_index", "turn_index", "request_id", "weight").rows() == [
        (0, 0, None, 0),
        (1, 0, None, 0),
    ]
    stored, put_aside_before = pools_and_notes(turns, requests, source="stored", **options)
    assert put_aside_before.num_rows == 0
    assert stored.equals(found)


@settings(max_examples=25)
@given(SESSIONS, TEXT)
def test_late_interaction_is_the_weighted_mean_of_best_cosines_with_neighbours(
    recall_pools: Recall, sessions: list[list[str]], text: str
) -> None:
    turns, encoder = turns_of(sessions), WordTokenEncoder(salt="late")
    found = frame(recall_pools(turns, asking(text), channels=("bm25", "late_interaction"), encoders=("late",)))
    if "nan" in text.split():
        assert found["late_interaction_score"].null_count() == found.height
        return
    indexed, weights = terms_of([turn["text"] for turn in turns]), []
    for of_word in terms_of(text.split()):
        holding = min((sum(term in turn for turn in indexed) for term in of_word), default=0)
        idf = math.log1p((len(turns) - holding + 0.5) / (holding + 0.5))
        weights.append(idf if of_word else FUNCTION_WEIGHT)

    def cosine(asked: str, said: str) -> float:
        return float(encoder.vector(asked) @ encoder.vector(said))

    def best(place: int, asked: str) -> float:
        words = turns[place]["text"].split()
        return -math.inf if "nan" in words else max(cosine(asked, said) for said in words)

    for row in found.to_dicts():
        place = next(k for k, turn in enumerate(turns) if turn["at"][1:] == (row["session_index"], row["turn_index"]))
        around = [
            k for k in (place - 1, place + 1) if 0 <= k < len(turns) and turns[k]["at"][1] == row["session_index"]
        ]
        near = [max(best(place, w), *[0.8 * best(k, w) for k in around], -math.inf) for w in text.split()]
        score = sum(weight * value for weight, value in zip(weights, near, strict=True)) / sum(weights)
        if math.isinf(score):
            assert (row["late_interaction_score"], row["late_interaction_rank"]) == (None, None)
        else:
            assert row["late_interaction_score"] == pytest.approx(score, abs=0.02)


@settings(max_examples=25)
@given(SESSIONS, TEXT, st.integers(1, 6))
def test_late_interaction_scores_the_turns_of_the_prefilter_alone(
    recall_pools: Recall, sessions: list[list[str]], text: str, prefilter: int
) -> None:
    options = {"channels": ("bm25", "dense", "late_own"), "encoders": ("late",), "prefilter": prefilter}
    turns = turns_of(sessions)
    cheap = frame(recall_pools(turns, asking(text), channels=("bm25", "dense"))).sort("pool_position")
    found = frame(recall_pools(turns, asking(text), **options))
    turn = ["session_index", "turn_index"]
    scored = found.filter(pl.col("late_own_score").is_not_null()).select(turn).rows()
    passed = cheap.head(prefilter).select(turn).rows()
    with_codes = {t["at"][1:] for t in turns if "nan" not in t["text"].split()} if "nan" not in text.split() else set()
    assert set(scored) == set(passed) & with_codes


@settings(max_examples=25)
@given(SESSIONS, TEXT)
def test_views_have_no_say_in_the_order_nor_in_the_prefilter(
    recall_pools: Recall, sessions: list[list[str]], text: str
) -> None:
    turns = turns_of(sessions)
    plain = {"channels": ("dense", "late_interaction"), "encoders": ("late",), "prefilter": 3}
    alone = frame(recall_pools(turns, asking(text), **plain))
    viewed = frame(recall_pools(turns, asking(text), views=("bm25", "bm25_window", "late_own"), **plain))
    assert viewed.select(alone.columns).equals(alone)


@pytest.mark.flash
def test_a_request_that_only_a_view_can_answer_has_no_pool(recall_pools: Recall) -> None:
    turns = turns_of([["fig", "plum"]])
    assert recall_pools(turns, asking("nan fig"), channels=("dense",), views=("bm25",)).num_rows == 0


@pytest.mark.flash
def test_weights_are_what_a_channel_counts_in_the_fusion(recall_pools: Recall) -> None:
    turns = turns_of([["fig plum", "apple", "plum plum"]])
    rows = recall_pools(turns, asking("plum"), weights={"dense": 3.0}, rrf_k=10).to_pylist()
    for row in rows:
        bm25 = 1 / (10 + row["bm25_rank"]) if row["bm25_rank"] else 0.0
        assert row["rrf_score"] == round(bm25 + 3 / (10 + row["dense_rank"]), 6)
    assert [row["rrf_score"] for row in rows] == sorted((row["rrf_score"] for row in rows), reverse=True)


@pytest.mark.flash
def test_a_request_that_the_encoder_could_not_read_is_answered_by_the_other_channels(recall_pools: Recall) -> None:
    turns = turns_of([["fig", "plum"]])
    options = {"channels": ("bm25", "late_interaction"), "encoders": ("late",)}
    requests = [*asking("nan plum"), {"id": "q", "history": "h", "text": "plum"}]
    by_request = {row["request_id"]: row for row in recall_pools(turns, requests, **options).to_pylist()[::-1]}
    assert by_request["r"]["late_interaction_score"] is None
    assert by_request["r"]["turn_index"] == 1
    assert by_request["q"]["late_interaction_score"] > 0.9


@pytest.mark.flash
def test_requests_of_more_than_one_block_are_scored_alike(recall_pools: Recall) -> None:
    turns = turns_of([["fig plum", "apple pear"], ["pear", "apples fig"]])
    requests = [
        {"id": f"r{k:03d}", "history": "h", "text": word, "day": 1 + k % 2}
        for k, word in enumerate(["fig", "pear"] * 40)
    ]
    together = frame(recall_pools(turns, requests, **EVERY))
    alone = [frame(recall_pools(turns, [request], **EVERY)) for request in requests[::16]]
    asked = [request["id"] for request in requests[::16]]
    assert together.filter(pl.col("request_id").is_in(asked)).equals(pl.concat(alone))


@pytest.mark.flash
def test_late_interaction_without_its_tokens_or_a_channel_before_it_says_so(recall_pools: Recall) -> None:
    with pytest.raises(ValueError, match="encoder late needs the tokens"):
        recall_pools(turns_of([["fig"]]), asking("fig"), channels=("bm25", "late_own"), encoders=())
    for wrong, said in (
        ({"channels": ("late_own",)}, "needs one of bm25"),
        ({"channels": ("late_own",), "views": ("bm25",)}, "needs one of bm25"),
        ({"channels": ("bm25", "late_best")}, "no channel late_best"),
        ({"views": ("bm25",)}, "must be distinct"),
        ({"weights": {"late_own": 1.0}}, "not among the channels"),
        ({"weights": {"bm25": 0.0}}, "must be above 0"),
    ):
        with pytest.raises(ValueError, match=said):
            PoolOptions.model_validate(wrong)


def test_every_channel_is_tried_here() -> None:
    assert {*EVERY["channels"], *EVERY["views"]} == {*CHEAP, *LATE}


@settings(max_examples=40)
@given(SESSIONS, TEXT, st.integers(1, 3), st.sampled_from([0.0, 0.75, 1.0]))
def test_windows_of_bm25_and_dense_are_those_of_a_loop(
    recall_pools: Recall, sessions: list[list[str]], text: str, window: int, b: float
) -> None:
    turns = turns_of(sessions)
    options = {"views": ("bm25_window", "dense_window"), "window": window, "b": b, "encoders": ()}
    found = frame(recall_pools(turns, asking(text), **options)).sort("session_index", "turn_index")
    terms = terms_of([turn["text"] for turn in turns])
    around = [
        [k for k, other in enumerate(turns) if abs(k - place) <= window and other["at"][1] == turn["at"][1]]
        for place, turn in enumerate(turns)
    ]
    lengths = [sum(len(terms[k]) for k in places) for places in around]
    average = sum(lengths) / len(lengths) or 1.0
    (asked,) = terms_of([text])
    dense = found["dense_score"].to_list()
    for place, row in enumerate(found.to_dicts()):
        score = 0.0
        for word in asked:
            frequency = sum(terms[k].count(word) for k in around[place])
            holding = sum(word in turn for turn in terms)
            if frequency:
                idf = math.log1p((len(turns) - holding + 0.5) / (holding + 0.5))
                score += idf * frequency * 2.5 / (frequency + 1.5 * (1 - b + b * lengths[place] / average))
        assert row["bm25_window_score"] == pytest.approx(score, abs=1e-6)
        assert (row["bm25_window_rank"] is not None) == (score > 0)
        known = [dense[k] for k in around[place] if dense[k] is not None]
        assert row["dense_window_score"] == (pytest.approx(np.mean(known), abs=2e-6) if known else None)

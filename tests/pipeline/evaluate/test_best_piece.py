"""The rank of the best evidence piece, and two policies compared by it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noted import request, said, stored

from pipeline.evaluate.best_piece import best_piece_ranks, by_best_piece
from pipeline.memory.options import MemoryOptions
from pipeline.recall.analyzer import analyze
from pipeline.recall.bm25 import scores_reference
from pipeline.recall.options import PoolOptions
from pipeline.schemas import LABELS, REQUESTS

FIRST, SECOND = 1 << 20, 2 << 20
MEMORY = MemoryOptions()
OKAPI = PoolOptions(channels=("bm25",), pool_size=9, k1=1.2, b=0.75, epsilon=0.25)
WORDS = ("kite", "boat", "lamp", "rope", "tree")


def rank(
    batches: list[list[dict]],
    asked: dict,
    evidence: list[tuple[int, int]],
    seq: int = 2,
    as_of: str = "arrival",
) -> list[int | None]:
    """The rank of one request as a list: without a row, none."""
    noted = stored(batches, [asked], MEMORY).noted
    requests = pl.DataFrame(pa.Table.from_pylist([asked], REQUESTS)).with_columns(seq=pl.lit(seq, pl.Int64))
    labels = [
        {"request_id": asked["request_id"], "history_id": "h", "session_index": session, "turn_index": turn}
        for session, turn in evidence
    ]
    table = pa.Table.from_pylist(labels, LABELS)
    tables = (noted.turns, noted.units, noted.pieces)
    return best_piece_ranks(requests, table, *tables, MEMORY.cut, as_of)["rank"].to_list()


@pytest.mark.flash
def test_the_best_of_the_evidence_counts_and_ranks_are_among_all_visible_pieces() -> None:
    turns = said(FIRST, "the boat sails", "kite kite kite", "one kite and a long rope", "a lamp", "a tree")
    asked = request("where is the kite?")
    assert rank([turns], asked, [(FIRST, 1)]) == [1]
    assert rank([turns], asked, [(FIRST, 2)]) == [2]
    assert rank([turns], asked, [(FIRST, 2), (FIRST, 1), (FIRST, 0)]) == [1]


@pytest.mark.flash
def test_evidence_without_a_word_of_the_request_has_no_rank_and_without_a_visible_piece_no_row() -> None:
    turns = said(FIRST, "the boat sails", "kite kite kite", "a lamp")
    assert rank([turns], request("where is the kite?"), [(FIRST, 2)]) == [None]
    bounded = request("where is the kite?", seen_session=FIRST, seen_turn=1)
    assert rank([turns], bounded, [(FIRST, 2)]) == []
    assert rank([turns], request("where is the kite?"), []) == []


@pytest.mark.flash
def test_what_arrived_later_takes_part_only_where_the_run_read_the_latest() -> None:
    batches = [said(FIRST, "one kite and a long rope", "a lamp", "boat"), said(SECOND, "kite kite kite", "tree")]
    asked = request("where is the kite?")
    assert rank(batches, asked, [(FIRST, 0)], seq=1) == [1]
    assert rank(batches, asked, [(FIRST, 0)], seq=2) == [2]
    assert rank(batches, asked, [(FIRST, 0)], seq=1, as_of="latest") == [2]


@settings(max_examples=20)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), min_size=2, max_size=7),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True),
    st.sets(st.integers(0, 6), min_size=1),
)
def test_it_is_the_place_in_the_order_of_rank_bm25(texts, query, evidence) -> None:
    cited = sorted(at for at in evidence if at < len(texts))
    turns, words = said(FIRST, *map(" ".join, texts)), request(" ".join(query))
    found = rank([turns], words, [(FIRST, at) for at in cited])
    terms = pl.DataFrame(stored([turns], [words], MEMORY).noted.pieces).sort("turn_index")["terms"].to_list()
    assert len(terms) == len(texts)
    codes = {term: code for code, term in enumerate(dict.fromkeys(term for each in terms for term in each))}
    asked = [codes[term] for term in analyze(pl.Series([" ".join(query)])).to_list()[0] if term in codes]
    scores = np.round(scores_reference([[codes[term] for term in each] for each in terms], asked, OKAPI).scores, 6)
    order = sorted(range(len(texts)), key=lambda at: (-scores[at], at))
    best = min((order.index(at) for at in cited), default=None)
    assert found == ([] if best is None else [best + 1 if scores[order[best]] > 0 else None])


@pytest.mark.flash
def test_bins_hold_each_request_once_and_a_request_without_a_row_is_left_out() -> None:
    ranks = pl.DataFrame(
        {"history_id": "h", "request_id": [f"q{at}" for at in range(7)], "rank": [1, 2, 5, 6, 20, 21, None]}
    )
    rows = [
        ("h", f"q{at}", policy, 900, policy == "a" and at % 2 == 0) for at in range(8) for policy in ("a", "b", "c")
    ]
    names = ["history_id", "request_id", "policy", "budget", "slate_complete"]
    results = pl.DataFrame(rows, schema=names, orient="row")
    found = by_best_piece(results, ranks, "a", "b", draws=100, seed=0)
    assert [(row.stratum, row.budget, row.n, row.ours, row.theirs) for row in found] == [
        ("rank 1", 900, 1, 1.0, 0.0), ("rank 2-5", 900, 2, 0.5, 0.0), ("rank 6-20", 900, 2, 0.5, 0.0),
        ("above 20", 900, 2, 0.5, 0.0),
    ]  # fmt: skip
    assert by_best_piece(results, ranks.clear(), "a", "b", draws=100, seed=0) == []

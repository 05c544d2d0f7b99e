from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_request import FIRST, Fewest, answered, key_of
from words import WordCounter

from pipeline import schemas
from pipeline.evaluate.evidence import evidence_of
from pipeline.evaluate.losses import LOSSES
from pipeline.policies.slates import SlateOptions, slates
from pipeline.recall.analyzer import analyze

pytestmark = pytest.mark.flash

WORDS = ["kite", "lamp", "moss", "fern", "drum"]
HEADER = 5
"""Words of a session's header: `# 1 January 2024, 00:00`."""


def okapi_ranks(tables, options):
    """Rank of each visible turn that has a word of the request by BM25Okapi (k1, b, epsilon of the options), and the
    place of each visible turn in recall order, in plain loops.
    """
    request = tables.requests.to_pylist()[0]
    asked_at = request["asked_at"]
    seen = [row for row in tables.turns.to_pylist() if asked_at is None or row["session_time"] <= asked_at]
    terms_of = {key_of(row): row["terms"] for row in tables.terms.to_pylist()}
    documents = [terms_of[key_of(row)] for row in seen]
    query = analyze(pl.Series([request["text"]]))[0].to_list()
    if not documents:
        return {}, {}
    average = sum(map(len, documents)) / len(documents)
    holding = {word: sum(word in document for document in documents) for document in documents for word in document}
    idf = {word: math.log(len(seen) - n + 0.5) - math.log(n + 0.5) for word, n in holding.items()}
    floor = options.epsilon * sum(idf.values()) / len(idf)
    scores, others = {}, []
    for row, document in zip(seen, documents, strict=True):
        if set(document).isdisjoint(query):
            others.append(key_of(row))
            continue
        score = 0.0
        for word in query:
            weight = idf.get(word, 0.0)
            times = document.count(word)
            length = options.k1 * (1 - options.b + options.b * len(document) / average)
            score += (floor if weight < 0 else weight) * times * (options.k1 + 1) / (times + length)
        scores[key_of(row)] = round(score, 6)
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    places = [{key: place for place, key in enumerate(keys, start=1)} for keys in (ordered, ordered + others[::-1])]
    return tuple(places)


def test_evidence_that_came_later_than_the_request_is_described_and_counts_as_no_turn_that_it_could_see():
    texts = [["kite lamp"], ["moss"], ["fern drum"]]
    every, _ = answered(texts, {(0, 0), (2, 0)}, "kite")
    in_time, options = answered(texts[:2], {(0, 0)}, "kite")
    tables = replace(in_time, told=every.told, labels=every.labels, sources=every.sources)
    found = evidence_of(tables, options, None)
    described = found.turns.select("session_index", "text_start", "n_tokens", "visible", "pool_position").rows()
    assert described == [(FIRST, "kite lamp", 2, True, 1), (FIRST + 2, "fern drum", 2, False, None)]
    assert (found.n_turns, found.n_visible, found.kappa, found.recall_repeats) == (2, 2, 2, True)


TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
SESSIONS = st.lists(st.lists(TEXT, min_size=1, max_size=3), min_size=1, max_size=4)


@settings(deadline=None, max_examples=25)
@given(SESSIONS, st.data())
def test_every_rank_position_and_mark_equals_a_slow_recount(texts, data):
    places = [(s, t) for s, session in enumerate(texts) for t in range(len(session))]
    gold = data.draw(st.sets(st.sampled_from(places), min_size=1))
    asked_day = data.draw(st.one_of(st.none(), st.integers(0, len(texts))))
    query = " ".join(data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)))
    size = data.draw(st.integers(1, 4))
    tables, options = answered(texts, gold, query, size, asked_day, budgets=(5, 12))
    found = evidence_of(tables, options, Fewest())

    by_bm25, ranks = okapi_ranks(tables, options)
    pooled = {key_of(row): row for row in tables.pools.to_pylist()}
    length = {key_of(row): row["n_tokens"] for row in tables.turns.to_pylist()}
    by_ranker = sorted(pooled, key=lambda key: (length[key], pooled[key]["pool_position"]))
    assert [key_of(row) for row in found.turns.to_dicts()] == [(FIRST + s, t) for s, t in sorted(gold)]
    assert (found.n_turns, found.n_visible) == (len(places), len(ranks))
    for row in found.turns.to_dicts():
        key = key_of(row)
        assert row["visible"] == (key in ranks)
        assert (row["bm25_rank"], row["recall_rank"]) == (by_bm25.get(key), ranks.get(key))
        assert row["pool_position"] == (pooled[key]["pool_position"] if key in pooled else None)
        assert row["ranker_rank"] == (by_ranker.index(key) + 1 if key in pooled else None)

    shown = {(row["policy"], row["budget"]): row for row in tables.slates.to_pylist()}
    assert [(row["policy"], row["budget"]) for row in found.slates.to_dicts()] == list(shown)
    holds = {cell: {key_of(item) for item in slate["items"]} for cell, slate in shown.items()}
    key_by_number = {row["number"]: key_of(row) for row in found.turns.to_dicts()}
    marks = {(row["number"], row["policy"], row["budget"]): row["in_slate"] for row in found.in_slate.to_dicts()}
    assert marks == {
        (number, *cell): key in held for number, key in key_by_number.items() for cell, held in holds.items()
    }
    order = {"recall_order": sorted(pooled, key=lambda key: pooled[key]["pool_position"]), "lambdarank": by_ranker}
    for row in found.in_slate.to_dicts():
        key, held = key_by_number[row["number"]], holds[row["policy"], row["budget"]]
        ranking = order[row["policy"]]
        assert row["rank"] == (ranking.index(key) + 1 if key in ranking else None)
        if row["lost"] is None:
            assert key in held
        elif row["lost"] in ("not_visible", "not_in_pool"):
            assert key not in ranking
            assert (row["lost"] == "not_visible") == (key not in ranks)
        else:
            assert key not in held
            better = [other for other in ranking[: row["rank"]] if other in held]
            opened = {session for session, _ in better}
            spent = sum(1 + length[other] for other in better) + HEADER * len(opened)
            needed = 1 + length[key] + HEADER * (key[0] not in opened)
            assert needed > row["budget"] - spent, "nothing is lost that fitted when its turn came"
            assert (row["lost"] == "did_not_fit") == (not held or row["rank"] <= len(held))
            lower = set(ranking[row["rank"] :]) & held
            assert lower or not held or row["lost"] == "ranked_too_low"
    for row in found.slates.to_dicts():
        cell = row["policy"], row["budget"]
        assert (row["n_tokens"], row["n_turns"]) == (shown[cell]["n_tokens"], len(holds[cell]))
        assert row["complete"] == (set(key_by_number.values()) <= holds[cell])


def test_a_turn_after_asked_at_is_not_visible_and_has_no_rank():
    tables, options = answered([["kite"], ["kite lamp"]], {(0, 0), (1, 0)}, "kite lamp", asked_day=0)
    found = evidence_of(tables, options, None)
    assert found.turns["visible"].to_list() == [True, False]
    assert found.turns["bm25_rank"].to_list() == [1, None]
    assert found.turns["pool_position"].to_list() == [1, None]
    assert (found.n_turns, found.n_visible) == (2, 1)


def test_a_turn_outside_the_pool_has_its_true_ranks():
    texts = [["moss", "lamp", "kite", "kite lamp", "fern"]]
    tables, options = answered(texts, {(0, 0), (0, 2)}, "kite lamp", pool_size=2)
    unlike, third = evidence_of(tables, options, None).turns.rows(named=True)
    assert (unlike["pool_position"], unlike["recall_rank"], unlike["bm25_rank"]) == (None, 5, None)
    assert (third["pool_position"], third["recall_rank"], third["bm25_rank"]) == (None, 3, 3)


def test_ranks_outside_the_pool_are_unknown_where_recall_gives_another_pool_than_the_run_had():
    tables, options = answered([["kite", "lamp", "kite moss"]], {(0, 0), (0, 1)}, "kite", pool_size=2)
    column = tables.pools.column_names.index("bm25_rank")
    stored = tables.pools.set_column(column, tables.pools.schema.field(column), pa.array([1, 9], pa.int32()))
    found = evidence_of(replace(tables, pools=stored), options, None)
    assert evidence_of(tables, options, None).recall_repeats
    assert not found.recall_repeats
    assert found.turns["bm25_rank"].to_list() == [1, None]


def test_the_ranker_breaks_ties_as_the_policy_does_and_its_ranks_are_those_of_the_slate():
    tables, options = answered([["moss", "lamp", "kite", "drum"]], {(0, 0), (0, 2)}, "kite", 4, budgets=(99,))
    found = evidence_of(tables, options, Fewest())
    slate = next(row for row in tables.slates.to_pylist() if row["policy"] == "lambdarank")
    in_slate = {key_of(item): item["rank"] for item in slate["items"]}
    assert [in_slate[key_of(row)] for row in found.turns.to_dicts()] == found.turns["ranker_rank"].to_list() == [4, 1]


def test_without_a_ranker_there_is_no_rank_of_it():
    tables, options = answered([["kite"]], {(0, 0)}, "kite")
    assert evidence_of(tables, options, None).turns["ranker_rank"].to_list() == [None]


def test_kappa_counts_a_continuation_as_its_first_part():
    texts = [["kite"], ["kite"], ["kite"]]
    tables, options = answered(texts, {(0, 0), (1, 0), (2, 0)}, "kite", continues={FIRST + 2: FIRST})
    found = evidence_of(tables, options, None)
    assert found.kappa == 2
    assert found.turns["continues"].to_list() == [None, None, FIRST]


def test_a_session_index_is_shown_by_its_batch_and_place_with_the_names_of_the_source():
    tables, options = answered([["kite"], ["lamp", "moss"]], {(1, 1)}, "moss")
    row = evidence_of(tables, options, None).turns.row(0, named=True)
    assert (row["batch"], row["session"], row["turn_index"]) == (1, 1, 1)
    assert (row["source_session"], row["source_turn"]) == ("S1", "T1")


def test_the_start_of_a_text_is_one_line_without_control_characters():
    tables, options = answered([["kite\n\x1b[31m\tlamp", "moss " * 30]], {(0, 0), (0, 1)}, "kite")
    short, long = evidence_of(tables, options, None).turns["text_start"]
    assert short == "kite [31m lamp"
    assert len(long) == 51
    assert long.endswith("…")


def test_only_text_shown_raw_counts_as_evidence_in_a_slate():
    tables, options = answered([["kite"]], {(0, 0)}, "kite")
    rows = [
        {**row, "items": [{**item, "resolution": "record"} for item in row["items"]]}
        for row in tables.slates.to_pylist()
    ]
    found = evidence_of(replace(tables, slates=pa.Table.from_pylist(rows, schemas.SLATES)), options, None)
    assert found.in_slate["in_slate"].to_list() == [False, False]
    assert found.slates["n_turns"].to_list() == [1, 1]
    assert found.in_slate["lost"].to_list() == ["not_raw", "not_raw"]
    assert evidence_of(tables, options, None).in_slate["in_slate"].to_list() == [True, True]


def test_a_request_without_labels_is_neither_complete_nor_incomplete():
    tables, options = answered([["kite"]], set(), "kite")
    found = evidence_of(tables, options, None)
    assert (found.turns.height, found.kappa, found.n_visible) == (0, 0, 1)
    assert found.slates["complete"].to_list() == [None, None]


def test_a_request_in_quarantine_has_evidence_and_no_slate():
    tables, options = answered([["kite"]], {(0, 0)}, "kite")
    nothing = {name: getattr(tables, name).slice(0, 0) for name in ("pools", "features", "slates")}
    found = evidence_of(replace(tables, **nothing), options, Fewest())
    assert found.slates.is_empty()
    assert found.turns.select("bm25_rank", "pool_position", "ranker_rank").row(0) == (None, None, None)
    assert found.recall_repeats


def test_a_history_without_turns_hides_its_evidence():
    tables, options = answered([["kite"]], {(0, 0)}, "kite")
    found = evidence_of(replace(tables, turns=tables.turns.slice(0, 0), terms=tables.terms.slice(0, 0)), options, None)
    assert (found.n_turns, found.turns["visible"].to_list()) == (0, [False])


def losses(found):
    return {(row["policy"], row["budget"], row["number"]): row["lost"] for row in found.in_slate.to_dicts()}


def test_a_long_turn_passed_over_did_not_fit_and_a_turn_after_the_budget_was_spent_ranked_too_low():
    class Earliest(Fewest):
        def score(self, features, names):
            return -features[:, names.index("turn_position")].astype(np.float64)

    texts = [["kite kite", "kite " * 6, "kite", "kite", "kite kite"]]
    tables, options = answered(texts, {(0, 1), (0, 4)}, "kite", 5, budgets=(13,), ranker=Earliest())
    found = evidence_of(tables, options, Earliest())
    assert found.slates.filter(policy="lambdarank")["n_turns"].to_list() == [3]
    assert found.in_slate.filter(policy="lambdarank")["rank"].to_list() == [2, 5]
    assert [losses(found)["lambdarank", 13, number] for number in (1, 2)] == ["did_not_fit", "ranked_too_low"]


def test_a_turn_that_no_budget_holds_did_not_fit():
    tables, options = answered([["kite lamp", "moss " * 30 + "kite"]], {(0, 0), (0, 1)}, "kite", budgets=(3,))
    assert set(losses(evidence_of(tables, options, Fewest())).values()) == {"did_not_fit"}


def test_where_the_ranker_is_absent_or_orders_otherwise_than_the_run_its_ranks_are_unknown_not_wrong():
    class Most(Fewest):
        def score(self, features, names):
            return -super().score(features, names)

    tables, options = answered([["moss", "lamp lamp lamp", "kite kite", "drum"]], {(0, 1)}, "kite", 4, budgets=(9,))
    assert losses(evidence_of(tables, options, Fewest()))["lambdarank", 9, 1] == "ranked_too_low"
    for ranker in (None, Most()):
        found = evidence_of(tables, options, ranker)
        assert losses(found)["lambdarank", 9, 1] == "rank_unknown"
        assert found.in_slate.filter(policy="lambdarank")["rank"].to_list() == [None]
        assert losses(found)["recall_order", 9, 1] != "rank_unknown"


def test_under_an_imported_ranking_its_own_ranks_say_where_evidence_was_lost():
    tables, options = answered([["kite", "lamp", "moss kite moss", "drum"]], {(0, 0), (0, 1), (0, 2)}, "kite", 1)
    key = {"request_id": "q", "history_id": "h", "session_index": FIRST}
    rows = [{**key, "turn_index": turn, "score": score} for turn, score in ((3, 3.0), (1, 2.0), (2, 1.0))]
    rankings = {"other": pa.Table.from_pylist(rows, schemas.RANKINGS)}
    asked = (tables.requests, tables.features, tables.turns, SlateOptions(("other",), (9,)))
    made = slates(*asked, WordCounter(), rankings=rankings)
    found = evidence_of(replace(tables, slates=made, rankings=rankings), options, None)
    assert found.in_slate.select("number", "in_slate", "rank", "lost").rows() == [
        (1, False, None, "not_in_pool"),
        (2, True, 2, None),
        (3, False, 3, "ranked_too_low"),
    ]


def test_every_word_for_a_loss_is_explained():
    of_ranks = {"rank_unknown", "did_not_fit", "ranked_too_low"}
    assert set(LOSSES) == {"not_visible", "not_in_pool", "not_raw", "not_recovered", *of_ranks}
    assert all(said.endswith(".") for said in LOSSES.values())

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import schemas
from pipeline.evaluate.bootstrap import mean_estimate, share_estimates
from pipeline.evaluate.completeness import outcomes
from pipeline.evaluate.summary import metric_name, summary

pytestmark = pytest.mark.flash

TURNS = [(session, turn) for session in (1, 2, 3) for turn in (0, 1)]
SETS = st.sets(st.sampled_from(TURNS))
CASE = st.tuples(SETS, SETS, SETS, st.sampled_from(["1", "5"]))


def tables(cases):
    """The tables that outcomes takes, of (gold, pool, slate, category) cases; session 3 continues 1."""

    def rows(request, turns, **more):
        return [
            {"request_id": f"q{request}", "history_id": f"h{request}", "session_index": s, "turn_index": t, **more}
            for s, t in sorted(turns)
        ]

    item = {"resolution": "raw", "start": 0, "end": 1, "rank": 1, "n_tokens": 1}
    requests = [
        {"request_id": f"q{i}", "history_id": f"h{i}", "mode": "reader", "text": "?", "category": case[3],
         "adversarial": case[3] == "5"}
        for i, case in enumerate(cases)
    ]  # fmt: skip
    labels = [row for i, case in enumerate(cases) for row in rows(i, case[0])]
    pools = [row for i, case in enumerate(cases) for row in rows(i, case[1], pool_position=1, rrf_score=0.0)]
    slates = [
        {"request_id": f"q{i}", "history_id": f"h{i}", "policy": "p", "budget": 9, "n_tokens": len(case[2]), "text": "",
         "items": [{"session_index": s, "turn_index": t, **item} for s, t in sorted(case[2])]}
        for i, case in enumerate(cases)
    ]  # fmt: skip
    sources = [
        {"history_id": f"h{i}", "session_index": s, "turn_index": t, "source_format": "x", "session_key": "k",
         "turn_key": "k", "content_digest": "d", "continues": 1 if s == 3 else None}
        for i in range(len(cases)) for s, t in TURNS
    ]  # fmt: skip
    turns = [
        {"history_id": f"h{i}", "session_index": s, "turn_index": t, "role": "user", "text": "x", "n_tokens": 1}
        for i in range(len(cases)) for s, t in TURNS
    ]  # fmt: skip
    columns = (
        schemas.REQUESTS, schemas.LABELS, schemas.pools(()), schemas.SLATES, schemas.SOURCES, schemas.TURNS
    )  # fmt: skip
    parts = (requests, labels, pools, slates, sources, turns)
    arrived = pl.DataFrame({"history_id": [f"h{i}" for i in range(len(cases))],
                            "request_id": [f"q{i}" for i in range(len(cases))], "seq": 0})  # fmt: skip
    made = [pa.Table.from_pylist(part, schema) for part, schema in zip(parts, columns, strict=True)]
    noted = pl.DataFrame(pl.from_arrow(schemas.QUARANTINE.empty_table())).with_columns(seq=pl.lit(0, pl.Int64))
    return [*made, noted, arrived]


def slow_share(cases, condition):
    chosen = [case for case in cases if case[0] and condition(case)]
    pooled = [case for case in chosen if case[0] <= case[1]]
    n = len(chosen)
    return (
        n,
        len(pooled) / n if n else None,
        sum(case[0] <= case[2] for case in pooled) / len(pooled) if pooled else None,
        sum(case[0] <= case[2] and case[0] <= case[1] for case in chosen) / n if n else None,
        sum(len(case[0] & case[2]) / len(case[0]) for case in chosen) / n if n else None,
    )


def kappa(case):
    return len({1 if session == 3 else session for session, _ in case[0]})


@settings(deadline=None)
@given(st.lists(CASE, min_size=1, max_size=8))
def test_the_summary_equals_a_slow_count(cases):
    # A slate shows turns of its pool only.
    cases = [(gold, pool, slate & pool, category) for gold, pool, slate, category in cases]
    result = summary(outcomes(*tables(cases)), seen_histories=[], draws=100)
    expected = {
        "all": lambda case: case[3] != "5",
        "kappa = 1": lambda case: case[3] != "5" and kappa(case) == 1,
        "kappa >= 2": lambda case: case[3] != "5" and kappa(case) >= 2,
        "kappa >= 3": lambda case: case[3] != "5" and kappa(case) >= 3,
        "category 5": lambda case: case[3] == "5",
    }
    assert result.left_out_no_evidence == sum(not case[0] for case in cases)
    for row in result.rows:
        if row.stratum in expected:
            shares = (row.slate_completeness, row.evidence_share)
            values = (row.r_pool.value, row.r_rank.value, *(share.value for share in shares))
            assert (row.n, *values) == pytest.approx(slow_share(cases, expected[row.stratum]))


def test_histories_the_ranker_was_trained_on_are_left_out_and_counted():
    gold = {(1, 0)}
    result = summary(outcomes(*tables([(gold, gold, gold, "1"), (gold, set(), set(), "1")])), ["h0"], draws=100)
    row = next(row for row in result.rows if row.stratum == "all")
    assert (row.n, row.slate_completeness.value, result.left_out_trained_on) == (1, 0.0, 1)


def test_the_share_of_the_evidence_is_a_mean_over_requests_with_a_metric_of_its_own():
    half = ({(1, 0), (1, 1)}, {(1, 0)}, {(1, 0)}, "1")
    result = summary(outcomes(*tables([half, ({(2, 0)}, set(), set(), "1")])), [], draws=100)
    row = next(row for row in result.rows if row.stratum == "all")
    assert (row.evidence_share.value, row.evidence_share.low, row.evidence_share.high) == (0.25, 0.0, 0.5)
    assert result.metrics()["all/p/9/evidence_share"] == 0.25


def test_evidence_in_a_continuation_counts_as_its_first_session():
    frame = outcomes(*tables([({(1, 0), (3, 0)}, set(), set(), "1")]))
    assert frame["kappa"].to_list() == [1]


def test_the_interval_covers_what_a_resample_of_requests_gives():
    generator = np.random.default_rng(5)
    in_pool = generator.random(300) < 0.8
    in_slate = in_pool & (generator.random(300) < 0.7)
    _, r_rank, complete = share_estimates(in_pool, in_slate, 4000, np.random.default_rng(0))
    picks = generator.integers(0, 300, (4000, 300))
    slow = in_slate[picks].mean(axis=1)
    slow_rank = in_slate[picks].sum(axis=1) / in_pool[picks].sum(axis=1)
    assert (complete.low, complete.high) == pytest.approx(np.percentile(slow, [2.5, 97.5]), abs=0.01)
    assert (r_rank.low, r_rank.high) == pytest.approx(np.percentile(slow_rank, [2.5, 97.5]), abs=0.01)


def test_nothing_to_average_is_null_and_not_one():
    empty = np.array([], bool)
    assert {e.value for e in share_estimates(empty, empty, 100, np.random.default_rng(0))} == {None}
    assert mean_estimate(np.array([], np.int32), 100, np.random.default_rng(0)).value is None


def test_the_mean_is_that_of_the_values():
    estimate = mean_estimate(np.array([1, 2, 3, 10], np.int32), 500, np.random.default_rng(0))
    assert estimate.value == 4.0
    assert 1.0 <= estimate.low < 4.0 < estimate.high <= 10.0


def test_metric_names_hold_only_what_mlflow_takes():
    assert metric_name("kappa >= 2", "lambdarank", 900, "r_rank") == "kappa ge 2/lambdarank/900/r_rank"
    assert metric_name("category a(b)é", "p", 9, "m") == "category a_b__/p/9/m"


def test_outcomes_without_labels_are_complete_in_nothing():
    frame = outcomes(*tables([(set(), {(1, 0)}, {(1, 0)}, "1")]))
    assert frame.select("pool_complete", "slate_complete").row(0) == (False, False)


def test_a_stratum_that_loses_every_request_shows_as_n_0_and_null():
    gold = {(1, 0)}
    result = summary(outcomes(*tables([(gold, gold, gold, "1")])), ["h0"], draws=100)
    assert [row.stratum for row in result.rows] == ["all", "kappa = 1", "kappa >= 2", "kappa >= 3", "category 1"]
    assert {(row.n, row.r_pool.value, row.slate_completeness.value) for row in result.rows} == {(0, None, None)}


def test_the_order_of_outcomes_changes_no_number():
    gold = {(1, 0)}
    frame = outcomes(*tables([(gold, gold, gold, "1"), (gold, gold, set(), "2"), (gold, set(), set(), "1")]))
    assert summary(frame, [], draws=100, seed=3) == summary(frame.reverse(), [], draws=100, seed=3)


def test_requests_with_doubtful_labels_are_counted_once_and_only_where_they_count():
    gold = {(1, 0)}
    frame = outcomes(*tables([(gold, gold, gold, "1"), (gold, set(), set(), "1"), (set(), set(), set(), "1")]))
    doubtful = frame.with_columns(n_unseen=pl.Series([0, 2, 2]), n_unresolved=pl.Series([1, 1, 1]))
    twice = pl.concat([doubtful, doubtful.with_columns(policy=pl.lit("q"))])
    result = summary(twice, ["h0"], draws=100)
    assert (result.with_unseen_evidence, result.with_unresolved_citations) == (1, 1)


@pytest.mark.parametrize(("as_of", "unseen"), [("arrival", 1), ("latest", 0)])
def test_evidence_that_arrived_after_its_request_is_unseen_unless_the_run_read_the_latest(as_of, unseen):
    later = {(3 << 20, 0)}
    requests, labels, pools, slates, sources, turns, noted, arrived = tables([({(1, 0)}, {(1, 0)}, {(1, 0)}, "1")])
    moved = labels.to_pylist()
    for label, (session, turn) in zip(moved, later, strict=True):
        label.update(session_index=session, turn_index=turn)
    labels = pa.Table.from_pylist(moved, schemas.LABELS)
    frame = outcomes(requests, labels, pools, slates, sources, turns, noted, arrived, as_of)
    assert frame["n_unseen"].to_list() == [unseen] * frame.height


def ranked(*turns: tuple[int, int]) -> pa.Table:
    rows = [
        {"request_id": "q0", "history_id": "h0", "session_index": s, "turn_index": t, "score": 1.0} for s, t in turns
    ]
    return pa.Table.from_pylist(rows, schemas.RANKINGS)


def of_two_policies(gold, pool, slate):
    """The tables of one request whose slate is that of policy p and of policy other."""
    made = tables([(gold, pool, slate, "1")])
    other = pl.DataFrame(made[3]).with_columns(policy=pl.lit("other")).to_arrow().cast(schemas.SLATES)
    return [*made[:3], pa.concat_tables([made[3], other]), *made[4:]]


@pytest.mark.parametrize(
    ("ranking", "complete"),
    [([(1, 0), (2, 0)], True), ([(1, 0)], False), ([], False), ([(2, 0), (1, 0), (3, 0)], True)],
)
def test_the_pool_of_an_imported_ranking_is_what_it_ranks_and_of_no_other_policy(ranking, complete):
    gold = {(1, 0), (2, 0)}
    frame = outcomes(*of_two_policies(gold, {(1, 0)}, gold), rankings={"other": ranked(*ranking)})
    assert dict(frame.select("policy", "pool_complete").iter_rows()) == {"p": False, "other": complete}
    assert frame["slate_complete"].to_list() == [True, True]


@pytest.mark.parametrize(("as_of", "complete"), [("arrival", False), ("latest", True)])
def test_a_ranked_turn_that_arrived_after_its_request_is_in_no_pool_unless_the_run_read_the_latest(as_of, complete):
    made = of_two_policies({(1, 0)}, set(), set())
    late = 3 << 20
    labels = pl.DataFrame(made[1]).with_columns(session_index=pl.lit(late, pl.Int64)).to_arrow().cast(schemas.LABELS)
    rankings = {"other": ranked((late, 0))}
    frame = outcomes(made[0], labels, *made[2:], as_of=as_of, rankings=rankings)
    assert frame.filter(policy="other")["pool_complete"].to_list() == [complete]

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.calibration import Calibration
from models.tokens import token_counter
from pipeline import schemas
from pipeline.features.registry import AGENTMEMREC
from pipeline.policies.orders import PolicyError
from pipeline.policies.slates import Catalog, SlateOptions, oracle_slates, slates
from pipeline.render.slate_text import line_spans, render
from pipeline.render.styles import STYLES

pytestmark = pytest.mark.flash
COUNTER = token_counter("o200k_base")
DAY = {
    1: datetime(2023, 5, 9, 8, 0, tzinfo=UTC),
    2: datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
    4: datetime(2023, 5, 8, 20, 0, tzinfo=UTC),
}


def turn(session: int, index: int, text: str, speaker: str | None = None) -> dict:
    return {
        "history_id": "h", "session_index": session, "turn_index": index, "session_time": DAY.get(session),
        "role": "user", "speaker": speaker, "text": text, "n_tokens": COUNTER.count(text),
    }  # fmt: skip


TURNS = pa.Table.from_pylist(
    [turn(1, 0, "I bought a kite."), turn(1, 1, "It is red."), turn(2, 0, "Hello there", "Ana")], schemas.TURNS
)
REQUESTS = pa.Table.from_pylist(
    [
        {"request_id": name, "history_id": "h", "mode": "reader", "text": "?", "adversarial": False}
        for name in ("q1", "q2")
    ],
    schemas.REQUESTS,
)


def candidate(position: int, session: int, index: int) -> dict:
    return {
        "request_id": "q1", "history_id": "h", "session_index": session, "turn_index": index,
        "pool_position": position, "bm25_score": 1.0 * position, "bm25_rank": 4 - position,
    }  # fmt: skip


FEATURES = pa.Table.from_pylist(
    [candidate(1, 1, 1), candidate(2, 2, 0), candidate(3, 1, 0)], schemas.features(AGENTMEMREC)
)
LABELS = pa.Table.from_pylist(
    [{"request_id": "q1", "history_id": "h", "session_index": 1, "turn_index": 0}], schemas.LABELS
)


class ByLength:
    identity = "by-length"
    feature_names = AGENTMEMREC
    calibration = Calibration(slope=1.0, intercept=0.0)

    def score(self, features, names):
        assert tuple(names) == self.feature_names
        return features[:, 0].astype(np.float64)


def made(policies=("recall_order",), budgets=(100,), ranker=None) -> list[dict]:
    table = slates(REQUESTS, FEATURES, TURNS, SlateOptions(policies, budgets), COUNTER, ranker)
    assert table.schema.equals(schemas.SLATES)
    return table.to_pylist()


def test_sessions_stand_in_time_order_under_their_headers():
    assert made()[0]["text"] == (
        "# 8 May 2023, 13:56\nAna: Hello there\n# 9 May 2023, 08:00\nuser: I bought a kite.\nuser: It is red."
    )


def test_a_request_without_a_pool_has_an_empty_slate():
    empty = made()[1]
    assert (empty["request_id"], empty["text"], empty["n_tokens"], empty["items"]) == ("q2", "", 0, [])


def test_items_name_what_the_text_shows_with_rank_and_characters():
    items = made(("bm25_order",))[0]["items"]
    assert [(i["session_index"], i["turn_index"], i["rank"], i["score"]) for i in items] == [
        (2, 0, 2, 2.0), (1, 0, 1, 3.0), (1, 1, 3, 1.0),
    ]  # fmt: skip
    assert [(i["start"], i["end"], i["resolution"]) for i in items][1] == (0, len("I bought a kite."), "raw")


def test_a_tight_budget_keeps_the_first_of_each_policy():
    rows = made(("recall_order", "bm25_order", "lambdarank"), (22,), ByLength())
    kept = {row["policy"]: [(i["session_index"], i["turn_index"]) for i in row["items"]] for row in rows[:3]}
    assert kept == {"recall_order": [(1, 1)], "bm25_order": [(1, 0)], "lambdarank": [(1, 0)]}
    assert all(row["n_tokens"] == COUNTER.count(row["text"]) <= 22 for row in rows)


def test_the_oracle_takes_gold_first():
    rows = oracle_slates(REQUESTS, FEATURES, TURNS, LABELS, SlateOptions(("oracle",), (22,)), COUNTER).to_pylist()
    assert [(i["session_index"], i["turn_index"]) for i in rows[0]["items"]] == [(1, 0)]


@pytest.mark.parametrize("policy", ["lambdarank", "adaptive_k", "knapsack"])
def test_a_policy_of_the_ranker_is_refused_without_one(policy):
    with pytest.raises(PolicyError, match="needs a ranker"):
        made((policy,))


def test_the_knapsack_shows_two_turns_of_one_session_where_the_ranking_alone_shows_one():
    # Pool positions are the scores: the turn of session 2 first, then the two of session 1.
    features = pa.Table.from_pylist(
        [candidate(3, 2, 0), candidate(2, 1, 1), candidate(1, 1, 0)], schemas.features(AGENTMEMREC)
    )
    turns = pa.Table.from_pylist([turn(1, 0, "ok"), turn(1, 1, "ok"), turn(2, 0, "word " * 9)], schemas.TURNS)
    options = SlateOptions(("lambdarank", "knapsack"), (26,))
    rows = slates(REQUESTS, features, turns, options, COUNTER, ByLength()).to_pylist()[:2]
    assert [[item["session_index"] for item in row["items"]] for row in rows] == [[2], [1, 1]]
    assert [[item["rank"] for item in row["items"]] for row in rows] == [[1], [3, 2]]
    assert all(row["n_tokens"] == COUNTER.count(row["text"]) <= 26 for row in rows)


def test_a_channel_s_policy_goes_by_the_pools_where_the_features_lack_it():
    def pooled(position: int, session: int, index: int, rank: int) -> dict:
        key = {"request_id": "q1", "history_id": "h", "session_index": session, "turn_index": index}
        return {**key, "pool_position": position, "rrf_score": 0.0, "moss_score": 9.0 - rank, "moss_rank": rank}

    rows = [pooled(1, 1, 1, 3), pooled(2, 2, 0, 1), pooled(3, 1, 0, 2)]
    pools = pa.Table.from_pylist(rows, schemas.pools(["moss"]))
    options = SlateOptions(("recall_order", "moss_order", "bm25_order"), (100,))
    with pytest.raises(PolicyError, match="moss_score"):
        slates(REQUESTS, FEATURES, TURNS, options, COUNTER)
    made = slates(REQUESTS, FEATURES, TURNS, options, COUNTER, pools=pools).to_pylist()[:3]
    ranks = [[(item["rank"], item["score"]) for item in row["items"]] for row in made]
    assert ranks == [[(2, None), (3, None), (1, None)], [(1, 8.0), (2, 7.0), (3, 6.0)], [(2, 2.0), (1, 3.0), (3, 1.0)]]


def ranking(*turns: tuple[int, int, float]) -> pa.Table:
    rows = [
        {"request_id": "q1", "history_id": "h", "session_index": s, "turn_index": t, "score": x} for s, t, x in turns
    ]
    return pa.Table.from_pylist(rows, schemas.RANKINGS)


def test_an_imported_ranking_is_filled_with_its_own_turns_also_those_outside_the_pool():
    outside = pa.concat_tables([TURNS, pa.Table.from_pylist([turn(3, 0, "Outside")], schemas.TURNS)])
    options = SlateOptions(("recall_order", "other"), (100,))
    rankings = {"other": ranking((3, 0, 0.5), (1, 0, 0.9))}
    rows = slates(REQUESTS, FEATURES, outside, options, COUNTER, rankings=rankings).to_pylist()
    assert [row["policy"] for row in rows] == ["recall_order", "other"] * 2
    assert rows[1]["text"] == "# undated\nuser: Outside\n# 9 May 2023, 08:00\nuser: I bought a kite."
    assert [(item["rank"], item["score"]) for item in rows[1]["items"]] == [(2, 0.5), (1, 0.9)]
    assert (rows[3]["text"], rows[3]["items"]) == ("", []), "it ranks nothing for q2"
    assert (
        rows[0] == slates(REQUESTS, FEATURES, outside, SlateOptions(("recall_order",), (100,)), COUNTER).to_pylist()[0]
    )


def test_a_ranked_turn_that_the_run_does_not_give_to_the_request_is_not_shown():
    rankings = {"other": ranking((7, 0, 0.9), (1, 0, 0.1))}
    row = slates(REQUESTS, FEATURES, TURNS, SlateOptions(("other",), (100,)), COUNTER, rankings=rankings).to_pylist()[0]
    assert row["text"] == "# 9 May 2023, 08:00\nuser: I bought a kite."


def of_history(table: pa.Table, history_id: str) -> pa.Table:
    column = table.schema.get_field_index("history_id")
    return table.set_column(column, table.schema.field(column), pa.array([history_id] * len(table), pa.large_string()))


def test_histories_that_share_a_request_id_share_nothing_else():
    both = [pa.concat_tables([table, of_history(table, "i")]) for table in (REQUESTS, FEATURES, TURNS)]
    options = SlateOptions(("recall_order", "bm25_order"), (22, 100))
    alone = slates(REQUESTS, FEATURES, TURNS, options, COUNTER)
    assert slates(*both, options, COUNTER).equals(pa.concat_tables([alone, of_history(alone, "i")]))
    # Labels of h must not mark the turns of i.
    marked = pl.DataFrame(oracle_slates(*both, LABELS, SlateOptions((), (22,)), COUNTER)).filter(request_id="q1")
    assert [[item["session_index"] for item in items] for items in marked["items"]] == [[1], [1]]
    assert [[item["turn_index"] for item in items] for items in marked["items"]] == [[0], [1]]


def test_a_label_given_twice_shows_its_turn_once():
    options = SlateOptions((), (100,))
    once, twice = (
        oracle_slates(REQUESTS, FEATURES, TURNS, labels, options, COUNTER)
        for labels in (LABELS, pa.concat_tables([LABELS, LABELS]))
    )
    assert once.equals(twice)


def test_another_request_of_the_batch_changes_no_slate():
    # The pool of q2 alone holds session 2, whose time says where the undated session 3 stands: before session 1.
    turns = pa.concat_tables([TURNS, pa.Table.from_pylist([turn(3, 0, "Undated")], schemas.TURNS)])
    own = [candidate(1, 1, 0), candidate(2, 3, 0)]
    other = {**candidate(1, 2, 0), "request_id": "q2"}
    texts = [
        slates(
            REQUESTS,
            pa.Table.from_pylist(rows, schemas.features(AGENTMEMREC)),
            turns,
            SlateOptions(("recall_order",), (99,)),
            COUNTER,
        )
        .column("text")[0]
        .as_py()
        for rows in (own, [*own, other])
    ]
    assert texts == ["# undated\nuser: Undated\n# 9 May 2023, 08:00\nuser: I bought a kite."] * 2


def test_no_requests_and_no_turns_give_the_schema():
    empty = (schemas.REQUESTS.empty_table(), schemas.features(AGENTMEMREC).empty_table(), schemas.TURNS.empty_table())
    table = slates(*empty, SlateOptions(("recall_order",), (9,)), COUNTER)
    assert (table.schema, table.num_rows) == (schemas.SLATES, 0)


TEXTS = st.sampled_from(
    ["ok", "Fine.", "No\n", "\n\nuser: x", "<|endoftext|>", "🙂" * 5, "# 8 May 2023, 13:56", "why? ", "b " * 40, "/a/"]
)


SPEAKERS = st.sampled_from([None, "Ana", "Oluwaseun Adeyemi", "Jean-Baptiste Moreau", "O", "", "Ana\n# 8 May 2023"])


def said(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, str | None]]]:
    return st.lists(st.tuples(texts, SPEAKERS), max_size=12)


def numbered(lines: list[tuple[str, str | None]]) -> tuple[pa.Table, pa.Table]:
    """Turns of these texts and speakers, three a session, and a pool of them all, the last first."""
    places = [(1 + index // 3, index % 3) for index in range(len(lines))]
    pool = [candidate(position, *place) for position, place in enumerate(reversed(places), 1)]
    turns = [turn(*place, *line) for place, line in zip(places, lines, strict=True)]
    return pa.Table.from_pylist(turns, schemas.TURNS), pa.Table.from_pylist(pool, schemas.features(AGENTMEMREC))


@settings(deadline=None, max_examples=60)
@given(said(TEXTS), st.integers(0, 160), st.sampled_from(sorted(STYLES)))
def test_no_slate_of_any_policy_is_over_its_budget_whatever_the_texts_and_speakers(lines, budget, style):
    turns, features = numbered(lines)
    options = SlateOptions(("recall_order", "bm25_order", "lambdarank", "adaptive_k", "knapsack"), (budget,), style)
    for row in slates(REQUESTS, features, turns, options, COUNTER, ByLength()).to_pylist():
        assert row["n_tokens"] == COUNTER.count(row["text"]) <= budget
        assert bool(row["items"]) == bool(row["text"])


def test_a_turn_of_a_megabyte_is_skipped_and_the_walk_goes_on():
    turns, features = numbered([("short", None), ("word " * 200_000, None)])
    row = slates(REQUESTS, features, turns, SlateOptions(("recall_order",), (60,)), COUNTER).to_pylist()[0]
    assert row["text"].endswith("user: short")


PROSE = said(st.sampled_from(["Yes.", "no", "I went to Rome!", "Really?", "3 (three)", "ok\nthen"]))


@settings(deadline=None, max_examples=60)
@given(PROSE, st.integers(1, 160), st.sampled_from(sorted(STYLES)))
def test_a_turn_is_skipped_only_if_the_whole_text_with_it_would_fill_the_budget(lines, budget, style):
    turns, features = numbered(lines)
    row = slates(REQUESTS, features, turns, SlateOptions(("recall_order",), (budget,), style), COUNTER).to_pylist()[0]
    shown = {(item["session_index"], item["turn_index"]) for item in row["items"]}
    frame = pl.DataFrame(turns)
    catalog = Catalog(frame, frame.select(schemas.TURN_KEY), STYLES[style](COUNTER), COUNTER)
    taken: list[int] = []
    for pair in pl.DataFrame(features).select("session_index", "turn_index").iter_rows():
        place = catalog.place[pair]
        if pair in shown:
            taken.append(place)
        else:
            # Not `> budget`: the plan counts a break after the last line, which the text has not.
            assert COUNTER.count(render(catalog.shown, sorted([*taken, place]), catalog.style)) >= budget


@settings(deadline=None, max_examples=40)
@given(PROSE, st.integers(1, 160), st.sampled_from(sorted(STYLES)))
def test_the_tokens_of_items_are_those_of_their_lines_as_shown(lines, budget, style):
    turns, features = numbered(lines)
    row = slates(REQUESTS, features, turns, SlateOptions(("recall_order",), (budget,), style), COUNTER).to_pylist()[0]
    frame = pl.DataFrame(turns)
    catalog = Catalog(frame, frame.select(schemas.TURN_KEY), STYLES[style](COUNTER), COUNTER)
    places = [catalog.place[item["session_index"], item["turn_index"]] for item in row["items"]]
    after = catalog.style.after_line
    shown = [row["text"][start:end] for start, end in line_spans(catalog.shown, places, catalog.style)]
    assert [item["n_tokens"] for item in row["items"]] == [COUNTER.count(line + after) for line in shown]


def test_what_initials_save_goes_to_more_turns():
    lines = [(f"It is the {n}th.", ("Oluwaseun Adeyemi", "Jean-Baptiste Moreau")[n % 2]) for n in range(12)]
    turns, features = numbered(lines)
    row = slates(REQUESTS, features, turns, SlateOptions(("recall_order",), (150,), "lean"), COUNTER).to_pylist()[0]
    assert row["text"].startswith("J = Jean-Baptiste Moreau, O = Oluwaseun Adeyemi\n# ")
    frame = pl.DataFrame(turns)
    catalog = Catalog(frame, frame.select(schemas.TURN_KEY), STYLES["lean"](COUNTER), COUNTER)
    # With names in full these lines alone would be over the budget.
    in_full = sum(catalog.line_tokens[catalog.place[i["session_index"], i["turn_index"]]] for i in row["items"])
    assert in_full > 150


def test_who_speaks_outside_a_slate_changes_nothing_in_it():
    lines = [("ok", "Oluwaseun Adeyemi")] * 12
    turns, features = numbered(lines)
    more = pa.concat_tables([turns, pa.Table.from_pylist([turn(5, 0, "ok", "Oluwaseun Balogun")], schemas.TURNS)])
    other = pa.Table.from_pylist([{**candidate(1, 5, 0), "request_id": "q2"}], schemas.features(AGENTMEMREC))
    options = SlateOptions(("recall_order",), (150,), "lean")
    alone = slates(REQUESTS, features, turns, options, COUNTER).to_pylist()[0]
    beside = slates(REQUESTS, pa.concat_tables([features, other]), more, options, COUNTER).to_pylist()[0]
    assert alone == beside
    assert alone["text"].startswith("O = Oluwaseun Adeyemi\n")

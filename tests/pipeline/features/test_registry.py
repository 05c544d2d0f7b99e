"""Every feature against a slow loop over the pool, and names that lead to them."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import schemas
from pipeline.features.candidates import features
from pipeline.features.of_channel import FAMILIES
from pipeline.features.registry import AGENTMEMREC, UnknownFeature, catalogue, default_features, feature, known
from pipeline.schemas import REQUESTS, TURNS

pytestmark = pytest.mark.flash

CHANNELS = ("bm25", "bm25_window", "late_own")
Row = dict[str, Any]

SCORES = st.one_of(st.none(), st.integers(-3, 5).map(float))
TURN = st.fixed_dictionaries({f"{channel}_score": SCORES for channel in CHANNELS})
POOLS = st.lists(
    st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 4)), TURN, min_size=1, max_size=8),
    min_size=1,
    max_size=3,
)


def best(rows: list[Row], column: str) -> float | None:
    return max((row[column] for row in rows if row[column] is not None), default=None)


def of_session(pool: list[Row], row: Row) -> list[Row]:
    return [other for other in pool if other["session_index"] == row["session_index"]]


def beside(step: int) -> Callable[[list[Row], Row, str], float | None]:
    def score(pool: list[Row], row: Row, column: str) -> float | None:
        wanted = row["turn_index"] - step
        return next((other[column] for other in of_session(pool, row) if other["turn_index"] == wanted), None)

    return score


def gap(pool: list[Row], row: Row, column: str) -> float | None:
    return None if row[column] is None else best(pool, column) - row[column]


def session_mean(pool: list[Row], row: Row, column: str) -> float | None:
    found = [other[column] for other in of_session(pool, row) if other[column] is not None]
    return statistics.fmean(found) if found else None


def session_place(pool: list[Row], row: Row, column: str) -> float | None:
    own = best(of_session(pool, row), column)
    others = {best(of_session(pool, other), column) for other in pool} - {None}
    return None if own is None else 1.0 + sum(other > own for other in others)


SLOW: dict[str, Callable[[list[Row], Row, str], float | None]] = {
    "score": lambda _, row, column: row[column],
    "rank": lambda _, row, column: row[column.replace("_score", "_rank")],
    "gap": gap,
    "before": beside(1),
    "after": beside(-1),
    "session_best": lambda pool, row, column: best(of_session(pool, row), column),
    "session_mean": session_mean,
    "session_place": session_place,
}


def tables_of(pools: list[dict[tuple[int, int], Row]]) -> tuple[list[list[Row]], pa.Table, pa.Table, pa.Table]:
    """Pools as rows and as a table, and the turns and requests that they need; the requests share turns."""
    rows = [
        [
            {
                **{"history_id": "h", "request_id": f"r{number}", "session_index": session, "turn_index": turn},
                **{"pool_position": position, "rrf_score": 0.5 / position, "age_days": float(session)},
                **scores,
                **{f"{channel}_rank": None if scores[f"{channel}_score"] is None else position for channel in CHANNELS},
            }
            for position, ((session, turn), scores) in enumerate(pool.items(), start=1)
        ]
        for number, pool in enumerate(pools)
    ]
    keys = sorted({key for pool in pools for key in pool})
    turns = [
        {"history_id": "h", "session_index": session, "turn_index": turn, "role": "user", "text": "x", "n_tokens": 1}
        for session, turn in keys
    ]
    asked = [
        {"request_id": f"r{k}", "history_id": "h", "mode": "reader", "text": "what?", "adversarial": False}
        for k in range(len(pools))
    ]
    flat = pa.Table.from_pylist([row for pool in rows for row in pool][::-1], schemas.pools(CHANNELS))
    return rows, flat, pa.Table.from_pylist(turns, TURNS), pa.Table.from_pylist(asked, REQUESTS)


@settings(max_examples=60)
@given(POOLS)
def test_features_of_a_channel_are_those_of_a_loop(pools: list[dict[tuple[int, int], Row]]) -> None:
    rows, *tables = tables_of(pools)
    names = [f"{channel}_{family}" for channel in CHANNELS for family in FAMILIES]
    found = features(*tables, [*names, "session_candidates"], CHANNELS).to_pylist()
    expected = {(row["request_id"], row["pool_position"]): (pool, row) for pool in rows for row in pool}
    assert len(found) == len(expected)
    for made in found:
        pool, row = expected[made["request_id"], made["pool_position"]]
        assert made["session_candidates"] == len(of_session(pool, row))
        for channel in CHANNELS:
            for family, slowly in SLOW.items():
                value = slowly(pool, row, f"{channel}_score")
                assert made[f"{channel}_{family}"] == (None if value is None else pytest.approx(value, abs=1e-6))


def test_every_family_has_a_slow_loop() -> None:
    assert set(SLOW) == set(FAMILIES)


def one(text: str = "x", request: str = "what?", **turn: Any) -> Row:
    """The features of the only candidate of a request."""
    _, pools, _, _ = tables_of([{(0, 3): dict.fromkeys([f"{channel}_score" for channel in CHANNELS], None)}])
    stored = {"history_id": "h", "session_index": 0, "turn_index": 3, "role": "user", "n_tokens": 7, **turn}
    asked = {"request_id": "r0", "history_id": "h", "mode": "reader", "text": request, "adversarial": False}
    names = [each.name for each in catalogue() if "<" not in each.name]
    made = features(
        pools,
        pa.Table.from_pylist([{**stored, "text": text}], TURNS),
        pa.Table.from_pylist([asked], REQUESTS),
        names,
        CHANNELS,
    )
    return dict(made.to_pylist()[0])


@pytest.mark.parametrize(
    ("turn", "found"),
    [
        ({}, {"role": 0, "n_tokens": 7, "turn_position": 3, "age_days": 0, "pool_position": 1, "rrf_score": 0.5}),
        ({"role": "assistant"}, {"role": 1}),
        ({"role": "tool"}, {"role": 2}),
        ({"text": "Really?"}, {"is_question": 1, "has_number": 0, "has_time_word": 0}),
        ({"text": "真的？"}, {"is_question": 1}),
        ({"text": "In 2023 I ran"}, {"has_number": 1, "has_time_word": 1, "is_question": 0}),
        ({"text": "We met YESTERDAY"}, {"has_time_word": 1, "has_number": 0}),
        ({"text": "lasting, nextel, agog"}, {"has_time_word": 0}),
        ({"speaker": "Ada Byron", "request": "What did ADA say?"}, {"speaker_named": 1}),
        ({"speaker": "Ada", "request": "What did Adam say?"}, {"speaker_named": 0}),
        ({"speaker": None, "request": "What did Ada say?"}, {"speaker_named": None}),
        ({"request": "one two-three, 四"}, {"request_words": 4}),
    ],
)
def test_features_of_a_turn_and_its_request(turn: Row, found: Row) -> None:
    made = one(**turn)
    assert {name: made[name] for name in found} == found


@pytest.mark.parametrize(
    ("request_text", "month", "found"),
    [
        ("What happened in May?", 5, 1),
        ("What happened in may or AUGUST?", 8, 1),
        ("What happened in May?", 6, 0),
        ("Did we go marching in May?", 3, 0),
        ("What happened?", 5, None),
        ("What happened in May?", None, None),
    ],
)
def test_a_month_is_named_as_a_word_and_unknown_where_either_side_has_none(
    request_text: str, month: int | None, found: int | None
) -> None:
    time = None if month is None else datetime(2024, month, 3, tzinfo=UTC)
    assert one(request=request_text, session_time=time)["month_named"] == found


@pytest.mark.parametrize(
    ("request_text", "kind"),
    [
        ("When did she leave?", 1),
        ("What day was it?", 1),
        ("Where is it?", 2),
        ("How many kites?", 3),
        ("Whose lamp is it?", 4),
        ("How did it end?", 5),
        ("Which one?", 6),
        ("Did it rain?", 7),
        ("Tell me whether it rained", 0),
        ("Somehow", 0),
    ],
)
def test_the_kind_of_a_request_is_that_of_its_first_pattern(request_text: str, kind: int) -> None:
    assert one(request=request_text)["request_kind"] == kind


def test_a_name_leads_to_its_channel_and_an_unknown_one_to_the_nearest() -> None:
    assert feature("bm25_window_rank", ("bm25", "bm25_window")).group == "bm25_window"
    for name, near in (("bm25_scores", "bm25_score"), ("n_token", "n_tokens"), ("late_own_befor", "late_own_before")):
        with pytest.raises(UnknownFeature, match=rf"no feature {name}; did you mean {near}\?"):
            feature(name, CHANNELS)
    with pytest.raises(UnknownFeature, match="dense_score"):
        feature("dense_score", CHANNELS)


def test_every_known_name_is_a_feature_and_the_recipe_s_are_those_that_a_profile_can_have() -> None:
    assert [feature(name, CHANNELS).name for name in known(CHANNELS)] == known(CHANNELS)
    assert len(set(known(CHANNELS))) == len(known(CHANNELS))
    assert default_features(("bm25", "dense")) == AGENTMEMREC
    assert default_features(("bm25",)) == tuple(name for name in AGENTMEMREC if not name.startswith("dense"))
    assert all(all((each.name, each.group, each.formula, each.unit, each.null)) for each in catalogue())

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import schemas
from pipeline.rankings.codes import Code
from pipeline.rankings.resolve import place, resolve
from pipeline.rankings.rows import ROWS

pytestmark = pytest.mark.flash

DAY = datetime(2024, 1, 1, tzinfo=UTC)
BATCH = 1 << 20


def rows(*said: dict) -> pl.DataFrame:
    filled = [
        {**dict.fromkeys(ROWS.names()), "file": "f", "place": f"row {number}", "request_id": "q", "score": 1.0, **row}
        for number, row in enumerate(said)
    ]
    return pl.DataFrame(filled, schema=ROWS)


ASKED = pl.DataFrame(
    {"history_id": ["h", "i", "h"], "request_id": ["q", "q", "r"], "bucket": [3, 5, 3], "seq": [1, 1, 1]}
)


def test_a_request_is_found_by_its_history_or_by_an_id_that_one_history_has():
    said = rows(
        {"history_id": "i", "source_turn": "a"},
        {"request_id": "r", "source_turn": "b"},
        {"source_turn": "c"},
        {"history_id": "j", "source_turn": "d"},
        {"request_id": "nobody", "source_turn": "e"},
    )
    placed, lost = place(said, ASKED)
    found = placed.sort("place").select("place", "history_id", "request_id", "bucket", "seq").rows()
    assert found == [("row 0", "i", "q", 5, 1), ("row 1", "h", "r", 3, 1)]
    assert dict(lost.select("place", "code").iter_rows()) == {
        "row 2": Code.AMBIGUOUS_REQUEST,
        "row 3": Code.UNKNOWN_REQUEST,
        "row 4": Code.UNKNOWN_REQUEST,
    }
    assert set(lost.columns) == set(schemas.QUARANTINE.names)


@pytest.mark.parametrize(
    "row",
    [
        {"request_id": None, "source_turn": "a"},
        {"request_id": "r"},
        {"request_id": "r", "source_turn": "a", "score": None},
        {"request_id": "r", "source_turn": "a", "score": float("nan")},
        {"request_id": "r", "source_turn": "a", "score": float("inf")},
    ],
)
def test_a_row_without_a_request_a_turn_or_a_finite_score_is_lost(row):
    placed, lost = place(rows(row), ASKED)
    assert placed.is_empty()
    assert lost.select("code", "weight").rows() == [(Code.INCOMPLETE, 1)]


class Stored:
    """Turns of history h, as a lake has them of each batch, and the request q of batch 1."""

    def __init__(self, asked_at: datetime | None = None, seen: tuple[int, int | None] | None = None) -> None:
        self.turns: list[dict] = []
        self.sources: list[dict] = []
        bounds = {"asked_at": asked_at, "seen_session": seen and seen[0], "seen_turn": seen and seen[1]}
        said = {"request_id": "q", "history_id": "h", "mode": "reader", "text": "?", "adversarial": False}
        self.request = {**said, **bounds}

    def session(self, name: str, *ids: str | None, batch: int = 1, day: int | None = None, key: str = "") -> int:
        """Stores a session; returns its session_index."""
        index = batch * BATCH + len({row["session_index"] for row in self.turns})
        for position, turn in enumerate(ids):
            where = {"history_id": "h", "session_index": index, "turn_index": position}
            time = None if day is None else DAY + timedelta(days=day)
            self.turns.append({**where, "session_time": time, "role": "user", "text": "x", "n_tokens": 1})
            self.sources.append(
                {**where, "source_format": "native", "source_session": name, "source_turn": turn,
                 "session_key": key or f"{name}-{index}", "turn_key": f"p{position}" if turn is None else f"i0:{turn}",
                 "content_digest": str(index)}
            )  # fmt: skip
        return index

    def means(self, *said: dict):
        placed, lost = place(rows(*({"history_id": "h", **row} for row in said)), ASKED)
        assert lost.is_empty()
        turns = pa.Table.from_pylist(self.turns, schemas.TURNS).select([*schemas.TURN_KEY, "session_time"])
        found = resolve(
            placed,
            pa.Table.from_pylist([self.request], schemas.REQUESTS),
            pa.Table.from_pylist(self.sources, schemas.SOURCES),
            turns,
        )
        assert set(found.ranking.columns) == {*schemas.RANKINGS.names, "seq"}
        assert found.ranking.height + found.lost.height + sum(found.counts.values()) == len(said)
        return found


def named(found) -> list[tuple[int, int, float]]:
    return found.ranking.select("session_index", "turn_index", "score").rows()


def test_a_turn_is_named_by_its_id_alone_where_one_has_it_or_with_its_session():
    stored = Stored()
    first, second = stored.session("s", "a", "b"), stored.session("t", "b", "c")
    found = stored.means(
        {"source_turn": "a", "score": 3.0},
        {"source_turn": "c", "score": 2.0},
        {"source_session": "t", "source_turn": "b", "score": 1.0},
        {"source_turn": "b"},
        {"source_session": "s", "source_turn": "c"},
        {"source_turn": "nobody"},
    )
    assert named(found) == [(first, 0, 3.0), (second, 0, 1.0), (second, 1, 2.0)]
    assert dict(found.lost.select("place", "code").iter_rows()) == {
        "row 3": Code.AMBIGUOUS_TURN,
        "row 4": Code.UNKNOWN_TURN,
        "row 5": Code.UNKNOWN_TURN,
    }


def test_a_position_means_a_turn_without_an_id_of_its_session():
    stored = Stored()
    first, other = stored.session("s", None, None), stored.session("t", None, "named")
    found = stored.means(
        {"source_session": "s", "position": 1},
        {"source_session": "t", "position": 0},
        {"source_session": "t", "position": 1},
        {"position": 0},
        {"source_turn": "1"},
    )
    assert [row[:2] for row in named(found)] == [(first, 1), (other, 0)]
    assert found.lost.sort("place")["code"].to_list() == [Code.UNKNOWN_TURN, Code.AMBIGUOUS_TURN, Code.UNKNOWN_TURN]


def test_a_turn_named_twice_counts_once_with_its_highest_score():
    stored = Stored()
    index = stored.session("s", "a")
    found = stored.means({"source_turn": "a", "score": 1.0}, {"source_turn": "a", "score": 2.5}, {"source_turn": "a"})
    assert named(found) == [(index, 0, 2.5)]
    assert found.counts["repeated"] == 2


def test_a_turn_that_the_request_must_not_see_is_dropped_and_counted():
    stored = Stored(asked_at=DAY + timedelta(days=2))
    early, undated = stored.session("s", "a", day=1), stored.session("u", "c")
    stored.session("t", "b", day=3)
    found = stored.means({"source_turn": "a"}, {"source_turn": "b"}, {"source_turn": "c"})
    assert [row[0] for row in named(found)] == [early, undated]
    assert found.counts["unseen"] == 1


def test_an_agent_s_request_sees_the_turn_that_it_names_and_none_after_it():
    stored = Stored(seen=(BATCH, 0))
    stored.session("s", "a", "b")
    stored.session("t", "c")
    found = stored.means({"source_turn": "a"}, {"source_turn": "b"}, {"source_turn": "c"})
    assert [row[:2] for row in named(found)] == [(BATCH, 0)]
    assert found.counts["unseen"] == 2


def test_of_an_edited_turn_the_last_copy_that_had_arrived_is_meant():
    stored = Stored()
    stored.session("s", "a", key="k")
    edited = stored.session("s", "a", key="k")
    stored.session("s", "a", key="k", batch=2)
    assert [row[0] for row in named(stored.means({"source_turn": "a"}))] == [edited]


def test_of_an_edited_turn_the_last_copy_that_the_request_sees_is_meant():
    stored = Stored(asked_at=DAY + timedelta(days=2))
    stored.session("s", "a", day=0, key="k")
    seen = stored.session("s", "a", day=1, key="k")
    stored.session("s", "a", day=3, key="k")
    found = stored.means({"source_turn": "a"})
    assert [row[0] for row in named(found)] == [seen]
    assert found.counts["unseen"] == 0


def test_of_an_edited_turn_an_agent_s_request_means_the_copy_before_its_step():
    stored = Stored(seen=(BATCH, 0))
    first = stored.session("s", "a", key="k")
    stored.session("s", "a", key="k")
    assert [row[0] for row in named(stored.means({"source_turn": "a"}))] == [first]


def test_an_edited_turn_of_which_no_copy_is_seen_is_dropped_and_counted_once():
    stored = Stored(asked_at=DAY)
    stored.session("s", "a", day=1, key="k")
    stored.session("s", "a", day=2, key="k")
    found = stored.means({"source_turn": "a"})
    assert (named(found), found.counts["unseen"]) == ([], 1)


def test_a_name_that_only_a_later_batch_has_means_what_came_there():
    stored = Stored()
    stored.session("s", "a")
    later = stored.session("t", "b", batch=2)
    assert [row[0] for row in named(stored.means({"source_turn": "b"}))] == [later]


NAMES = st.sampled_from(["a", "b", "c"])
SESSIONS = st.lists(st.tuples(NAMES, st.lists(NAMES, min_size=1, max_size=3, unique=True)), min_size=1, max_size=4)


@given(SESSIONS, SESSIONS, st.lists(st.tuples(st.none() | NAMES, NAMES), min_size=1, max_size=6))
def test_what_arrives_later_changes_nothing_that_meant_something_before(before, after, asked):
    said = [{"source_session": session, "source_turn": turn} for session, turn in asked]
    stored = Stored()
    for name, ids in before:
        stored.session(name, *ids)
    first = stored.means(*said)
    for name, ids in after:
        stored.session(name, *ids, batch=2)
    second = stored.means(*said)
    in_time = second.ranking.filter(pl.col("session_index") < 2 * BATCH)
    assert in_time.equals(first.ranking)
    ambiguous = first.lost.filter(code=Code.AMBIGUOUS_TURN)["place"]
    assert set(ambiguous) <= set(second.lost.filter(code=Code.AMBIGUOUS_TURN)["place"])

from __future__ import annotations

import pyarrow as pa
import pytest

from pipeline.ingest.errors import IngestError
from pipeline.rankings.rows import ROWS, rows_of

pytestmark = pytest.mark.flash

GOOD = {"request_id": ["q", "r"], "source_turn": ["t1", "t2"], "score": [0.5, 2.0]}


def test_ids_and_scores_come_out_with_their_place_and_what_is_not_said_is_null():
    rows = rows_of(pa.table(GOOD), "mem0.parquet", first=7)
    assert rows.schema == ROWS
    assert rows.rows() == [
        ("mem0.parquet", "row 7", "q", None, None, "t1", None, 0.5),
        ("mem0.parquet", "row 8", "r", None, None, "t2", None, 2.0),
    ]


def test_whole_numbers_are_positions_and_other_columns_are_left():
    rows = rows_of(pa.table({**GOOD, "source_turn": [0, 3], "score": [1, 2], "text": ["a", "b"]}), "f")
    assert rows.select("source_turn", "position", "score").rows() == [(None, 0, 1.0), (None, 3, 2.0)]


def test_text_of_every_kind_of_column_is_taken():
    kinds = (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string()))
    for kind in kinds:
        column = pa.array(["q", None]).cast(kind)
        table = pa.table({**GOOD, "request_id": column, "history_id": column, "source_session": [None, None]})
        assert rows_of(table, "f").select("request_id", "history_id").rows() == [("q", "q"), (None, None)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": None}, "has no column score: a ranking has request_id, source_turn, score"),
        ({"source_turn": [1.5, 2.0]}, "source_turn holds double; give text"),
        ({"request_id": [1, 2]}, "request_id holds int64; give text"),
        ({"score": ["high", "low"]}, "score holds string; give numbers"),
        ({"history_id": [1, 2]}, "history_id holds int64"),
    ],
)
def test_what_is_no_ranking_is_refused_with_what_would_do(change, message):
    columns = {name: values for name, values in {**GOOD, **change}.items() if values is not None}
    with pytest.raises(IngestError, match=message):
        rows_of(pa.table(columns), "f.parquet")


def test_a_column_that_is_there_twice_is_refused():
    table = pa.Table.from_arrays(
        [pa.array(["a"])] * 3 + [pa.array([1.0])], ["request_id", "request_id", "source_turn", "score"]
    )
    with pytest.raises(IngestError, match="request_id more than once"):
        rows_of(table, "f")


def test_text_that_is_not_utf_8_is_refused():
    broken = pa.array([b"\xff", b"b"]).view(pa.string())
    with pytest.raises(IngestError, match="not UTF-8"):
        rows_of(pa.table({**GOOD, "source_turn": broken}), "f")
